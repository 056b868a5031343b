import { Wallet } from 'ethers';
import { beforeEach, describe, expect, test } from 'vitest';
import { faultsOf, overhang, phone } from '../browser.ts';
import { ask } from '../sample-world.ts';
import { tools } from '../tools.ts';
import {
  alterClaim,
  claimFor,
  confirm,
  give,
  type Held,
  headline,
  linkOf,
  nftOf,
  open,
  printCode,
  texts,
} from './claim-page.ts';

const visibleMessages = `[...document.querySelectorAll('#told, #fault, #note')]
  .filter((each) => each.offsetParent !== null && each.textContent !== '').map(({ id }) => id)`;

describe.skipIf(tools.chromium === undefined)('whoever opens a code again', () => {
  let held: Held;
  beforeEach(async () => {
    held = await printCode();
  });

  test('in a new tab reads that it is theirs, and in another browser whether it may be', async () => {
    const { page, close } = await open();
    const wallet = Wallet.createRandom().address;
    await page.goto(held.link);
    await claimFor(page, wallet);
    await headline(page, 'It is yours');
    await page.close();
    const later = await page.context().newPage();
    await later.goto(held.link);
    await headline(later, 'It is yours');
    // The browser keeps which address was claimed for, and nothing else.
    expect(
      await later.evaluate('[Object.entries(localStorage), sessionStorage.length, document.cookie]'),
    ).toEqual([[[`claimed ${held.nftId}`, wallet.toLowerCase()]], 0, '']);
    await close();

    const other = await open();
    await other.page.goto(held.link);
    await headline(other.page, 'Already claimed');
    const short = `${wallet.slice(0, 6)}…${wallet.slice(-4)}`;
    await other.page.getByText(`Claimed for ${short}. Is that your wallet? Then all is well`).waitFor();
    expect([await faultsOf(other.page), await overhang(other.page)]).toEqual([[], 0]);
    await other.close();
  });

  test('before it is switched on reads that, and goes on when it is', async () => {
    const rwa = { name: 'Cask', type: 'spirits', chainId: 31337, isBuyable: false, isClaimable: true };
    const made = await ask('POST', '/v1/api/rwa', rwa);
    const { id } = made.body as { id: string };
    const { nfts } = (await ask('POST', `/v1/api/rwa/${id}/nfts`, { count: 1 })).body as { nfts: [Secret] };
    const { page, close } = await open();
    await page.goto(linkOf(nfts[0].id, nfts[0].secret));
    await headline(page, 'Not open for claims yet');
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    await page.getByRole('button', { name: 'Look again' }).click();
    await headline(page, 'Not open for claims yet');
    expect((await ask('PATCH', `/v1/api/rwa/${id}`, { claimPage: true })).status).toBe(200);
    await page.getByRole('button', { name: 'Look again' }).click();
    await headline(page, 'Yours to claim');
    // It may be switched off at any time.
    await ask('PATCH', `/v1/api/rwa/${id}`, { claimPage: false });
    await give(page, Wallet.createRandom().address);
    await headline(page, 'Not open for claims yet');
    expect(await page.getByRole('button', { name: 'Continue' }).isVisible()).toBe(false);
    await close();
  });

  test('with the Back of the browser gets from the confirmation to the form and its address', async () => {
    const { page, close } = await open();
    await page.goto(held.link);
    const wallet = Wallet.createRandom().address;
    for (const leave of [() => page.goBack(), () => page.getByRole('button', { name: 'Change' }).click()]) {
      await give(page, wallet);
      await page.waitForSelector('#yes[aria-disabled=false]');
      await leave();
      await headline(page, 'Yours to claim');
      expect(await page.getByLabel('Address of your wallet').inputValue()).toBe(wallet);
    }
    await claimFor(page, wallet);
    await headline(page, 'It is yours');
    // No entry of the confirmation is left between the end and what was before.
    await page.goBack();
    expect(page.url()).toBe('about:blank');
    await close();
  });

  test('without a connection reads one message, which goes when the connection is back', async () => {
    const { page, close } = await open();
    await page.goto(held.link);
    const wallet = Wallet.createRandom().address;
    await give(page, wallet);
    await page.waitForSelector('#yes[aria-disabled=false]');
    await page.context().setOffline(true);
    await confirm(page);
    await page
      .getByRole('alert')
      .filter({ hasText: texts['unreachable'] ?? '' })
      .waitFor();
    expect(await page.evaluate(visibleMessages)).toEqual(['fault']);
    // Nor after the page has asked again by itself.
    await page.waitForEvent('requestfailed');
    await page.evaluate('new Promise((done) => setTimeout(done))');
    expect(await page.evaluate(visibleMessages)).toEqual(['fault']);
    await page.context().setOffline(false);
    await expect.poll(() => page.evaluate(visibleMessages)).toEqual([]);
    await page.getByRole('button', { name: 'Continue' }).click();
    await confirm(page);
    await headline(page, 'It is yours');
    expect((await nftOf(held.nftId)).recipient).toBe(wallet);
    await close();
  });

  test('sees the form below a long description, which keeps its lines', async () => {
    const { page, complaints, close } = await open();
    const description = `First line.\nSecond line.\n\n${'More words. '.repeat(800)}`.trim();
    await alterClaim(page, { description, imageUrl: null });
    await page.goto(held.link);
    await headline(page, 'Yours to claim');
    const bottomOf = (id: string) => page.evaluate(`${id}.getBoundingClientRect().bottom`);
    expect(await bottomOf('recipient')).toBeLessThan(phone.viewport.height);
    expect(await page.locator('#about').evaluate((about) => about.innerText)).toContain(
      'First line.\nSecond line.\n\nMore',
    );
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    await page.getByRole('button', { name: 'Show more' }).click();
    expect(await bottomOf('about')).toBeGreaterThan(phone.viewport.height);
    await page.getByRole('button', { name: 'Show less' }).click();
    expect(await bottomOf('recipient')).toBeLessThan(phone.viewport.height);
    await page.unroute('**/state');
    await page.reload();
    await headline(page, 'Yours to claim');
    expect(await page.locator('#more').isVisible()).toBe(false);
    expect(complaints()).toEqual([]);
    await close();
  });

  test('sees a picture with an http: address', async () => {
    const { page, complaints, close } = await open();
    await page.route('http://images.example/**', (route) =>
      route.fulfill({
        contentType: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>',
      }),
    );
    await alterClaim(page, { imageUrl: 'http://images.example/cask.svg' });
    await page.goto(held.link);
    await page.getByRole('img', { name: 'Picture of Islay' }).waitFor();
    expect(complaints().filter((text) => !text.startsWith('asked http://images.example/'))).toEqual([]);
    await close();
  });
});

type Secret = { readonly id: string; readonly secret: string };
