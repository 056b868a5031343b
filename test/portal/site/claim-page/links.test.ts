import { beforeEach, describe, expect, inject, test } from 'vitest';
import { faultsOf, overhang } from '../browser.ts';
import { ask } from '../sample-world.ts';
import { tools } from '../tools.ts';
import { type Held, headline, nftOf, open, printCode } from './claim-page.ts';

describe.skipIf(tools.chromium === undefined)('the link of a printed code', () => {
  let held: Held;
  beforeEach(async () => {
    held = await printCode();
  });

  test('works with what messengers and mails put after it, and with a slash before the secret', async () => {
    const { page, calls, close } = await open();
    const after = ['.', ')', ',', ';', '>', '"', ' ', '%0A', '%22', '%E2%80%9D', '。', ' and more', '_'];
    for (const link of [...after.map((each) => held.link + each), held.link.replace('#', '/#')]) {
      await page.goto('about:blank');
      await page.goto(link);
      await headline(page, 'Yours to claim');
    }
    expect(new Set(calls.map(({ body }) => body))).toEqual(
      new Set([JSON.stringify({ secret: held.secret })]),
    );
    expect(new URL(page.url()).pathname).toBe(`/claim/${held.nftId}`);
    await close();
  });

  test.each([
    ['This link is not complete', 0, () => held.link.split('#')[0] ?? ''],
    ['This link is not complete', 0, () => held.link.replace(held.nftId, 'cut')],
    ['This link is not complete', 0, () => held.link.slice(0, -1)],
    ['This link is not complete', 0, () => `${held.link}x`],
    ['This link does not work', 1, () => held.link.replace(held.secret, 'x'.repeat(32))],
    ['Do you have a printed code?', 0, () => `${inject('live').baseUrl}/claim`],
    ['Do you have a printed code?', 0, () => `${inject('live').baseUrl}/claim/#${held.secret}`],
  ])('that is another reads "%s" after %i tries', async (words, tries, link) => {
    const { page, calls, complaints, close } = await open();
    await page.goto(link());
    await headline(page, words);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    // A wrong secret is counted, so it is not tried again unasked.
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    expect(calls).toHaveLength(tries);
    expect(complaints().filter((text) => !/status of 404/.test(text))).toEqual([]);
    await close();
  });

  test('is told until when to wait after too many wrong codes', async () => {
    const { page, close } = await open();
    await page.route('**/state', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '840' }, json: { code: 'secret_locked' } }),
    );
    await page.goto(held.link);
    await headline(page, 'Too many wrong links');
    await page.getByText('Try again in 14 minutes.').waitFor();
    await page.unroute('**/state');
    await page.getByRole('button', { name: 'Look again' }).click();
    await headline(page, 'Yours to claim');
    await close();
  });

  test('is consumed by nothing that only looks at it', async () => {
    const bare = held.link.split('#')[0] ?? '';
    for (const method of ['HEAD', 'GET']) {
      for (const address of [bare, `${bare}/`]) {
        const answer = await fetch(address, { method, headers: { 'user-agent': 'facebookexternalhit/1.1' } });
        expect(answer.status).toBe(200);
        expect(await answer.text()).not.toContain('Islay');
      }
    }
    const claim = await ask('POST', `/claim/v1/api/claims/${held.nftId}/state`, { secret: held.secret });
    expect(claim.body).toMatchObject({ claimStatus: 'unclaimed', isClaimable: true });
    expect(await nftOf(held.nftId)).toMatchObject({ claimStatus: 'unclaimed' });
  });
});
