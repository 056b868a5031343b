import { beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { languages, type Texts, textsOf } from '../../../pages/page-modules.ts';
import { readPng } from '../../../support/printed-code.ts';
import { faultsOf, open, overhang, phone } from '../browser.ts';
import { tools } from '../tools.ts';
import { type Door, makeDoor } from './door-page.ts';

const parts = 'name=Spring%20fair%20%26%20more&start=2027-05-04T09:00:00.000Z&place=Hall%203';

describe.skipIf(tools.chromium === undefined)('the page of a ticket', () => {
  let door: Door;
  let ticket: string;
  beforeEach(async () => {
    door = await makeDoor();
    onTestFinished(() => door.proxy.close());
    ticket = await door.addGuest('user-1');
  });

  test.each(['light', 'dark'] as const)(
    'shows a code that scanners read, in %s, also without a network',
    async (colorScheme) => {
      const { page, complaints } = await open({ ...phone, colorScheme, timezoneId: 'UTC', locale: 'en-GB' });
      const asked: string[] = [];
      page
        .context()
        .on('request', (request) => asked.push(`${request.url()} ${JSON.stringify(request.headers())}`));
      await page.goto(`${inject('live').baseUrl}/ticket#${ticket}&${parts}`);
      for (const isOnline of [true, false]) {
        await page.getByRole('heading', { level: 2, name: 'Spring fair & more' }).waitFor();
        const shown = await page.locator('main').innerText();
        expect(shown).toContain('4 May 2027');
        expect(shown).toContain('Hall 3');
        const code = await readPng(await page.locator('#code').screenshot());
        expect(code).toBe(ticket);
        expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
        if (!isOnline) break;
        await page.getByText('also opens without a connection').waitFor();
        await page.context().setOffline(true);
        await page.reload();
      }
      // Nothing of the ticket or the event leaves the browser.
      expect(
        asked.filter(
          (line) => /Spring|Hall/.test(line.replace(/#\S*/, '')) || line.replace(/#\S*/, '').includes(ticket),
        ),
      ).toEqual([]);
      expect(complaints).toEqual([]);
      await page.context().close();
    },
  );

  test('shows hostile parts of a link as text', async () => {
    const { page, complaints } = await open(phone);
    const name = encodeURIComponent('<img src=x onerror="window.hacked=1">');
    await page.goto(`${inject('live').baseUrl}/ticket#${ticket}&name=${name}&place=${'x'.repeat(3_000)}`);
    await page.getByRole('heading', { level: 2, name: '<img src=x' }).waitFor();
    expect(await page.evaluate('[window.hacked, document.images.length]')).toEqual([undefined, 0]);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('says so of a link that has no ticket', async () => {
    const { page } = await open(phone);
    await page.goto(`${inject('live').baseUrl}/ticket#${ticket.slice(0, 100)}`);
    await page.getByRole('heading', { name: 'This link is not complete' }).waitFor();
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    await page.context().close();
  });

  test.each(languages)('is in %s', async (language) => {
    const said: Texts = await textsOf(language, 'ticket');
    const { page } = await open({ ...phone, locale: language });
    await page.goto(`${inject('live').baseUrl}/ticket#${ticket}&${parts}`);
    await page.getByText(said['showCode'] ?? '').waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe(language);
    expect(await page.locator('body').innerText()).not.toMatch(/[{}]|undefined/);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    await page.context().close();
  });
});
