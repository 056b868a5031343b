import { Wallet } from 'ethers';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { wrongTexts } from '../../../pages/claim/wrong-texts.ts';
import { faultsOf, overhang } from '../browser.ts';
import { tools } from '../tools.ts';
import { claimFor, confirm, give, type Held, headline, nftOf, open, printCode, texts } from './claim-page.ts';

/** The pieces of a text between its placeholders. */
const piecesOf = (name: string) => (texts[name] ?? name).split(/\{\w+\}/);

const recipientAnswer = (page: Page, answer: object, status = 200) =>
  page.route('**/recipient', (route) => route.fulfill({ status, json: answer }));

describe.skipIf(tools.chromium === undefined)('the address that an NFT is claimed for', () => {
  let held: Held;
  beforeEach(async () => {
    held = await printCode();
  });

  test('is none of the wrong texts that people paste: each is explained, and nothing is claimed', async () => {
    const { page, calls, complaints, close } = await open();
    const { rwa } = await nftOf(held.nftId);
    const wrong = wrongTexts(rwa.contractAddress);
    expect(wrong.length).toBeGreaterThan(20);
    await page.goto(held.link);
    await headline(page, 'Yours to claim');
    for (const { what, text, fault } of wrong) {
      await give(page, text);
      await page
        .locator('#fault')
        .filter({ hasText: piecesOf(fault)[0] ?? '' })
        .waitFor();
      const words = (await page.locator('#fault').textContent()) ?? '';
      expect([what, piecesOf(fault).filter((piece) => !words.includes(piece))]).toEqual([what, []]);
      expect([what, await page.locator('#confirm').isVisible()]).toEqual([what, false]);
      expect([what, await page.getByLabel('Address of your wallet').inputValue()]).toEqual([what, text]);
    }
    // No claim, and of all these texts only the wrong checksum left the browser: the service knows checksums.
    expect(new Set(calls.map(({ path }) => path))).toEqual(
      new Set([`${held.nftId}/state`, `${held.nftId}/recipient`]),
    );
    expect(calls.filter(({ path }) => path.endsWith('/recipient'))).toHaveLength(1);
    expect(await nftOf(held.nftId)).toMatchObject({ claimStatus: 'unclaimed', recipient: null });
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    // A browser writes each rejected request on its console; there is nothing else.
    expect(complaints().filter((text) => !/status of 40[04]/.test(text))).toEqual([]);
    await close();
  });

  test('is pasted whole, however long the text is', async () => {
    const { page, calls, close } = await open();
    const hash = `0x${Wallet.createRandom().privateKey.slice(2)}`;
    await page.goto(held.link);
    await headline(page, 'Yours to claim');
    await page.evaluate(`navigator.clipboard.writeText('${hash}')`);
    await page.getByLabel('Address of your wallet').focus();
    await page.keyboard.press('Control+V');
    expect(await page.getByLabel('Address of your wallet').inputValue()).toBe(hash);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Never give a private key to anybody' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('recipient');
    expect(calls.filter(({ body }) => body.includes(hash.slice(2, 42)))).toEqual([]);
    await close();
  });

  test('may be changed before it is confirmed', async () => {
    const { page, calls, close } = await open();
    const [first, second] = [Wallet.createRandom().address, Wallet.createRandom().address];
    await page.goto(held.link);
    await give(page, first);
    await page.getByRole('button', { name: 'Change' }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('recipient');
    await give(page, `  ${second.toLowerCase().replace('0x', '0X')} `);
    await headline(page, 'Is this your wallet?');
    expect(await page.locator('#confirm-address').textContent()).toBe(second);
    await confirm(page);
    await headline(page, 'It is yours');
    expect((await nftOf(held.nftId)).recipient).toBe(second);
    expect(calls.filter(({ path }) => path === held.nftId)).toHaveLength(1);
    await close();
  });

  test('is not confirmed by the second of two taps', async () => {
    const { page, calls, close } = await open();
    await page.goto(held.link);
    // The earliest tap that can be: at the moment when the button comes.
    await page.evaluate(`new MutationObserver((_, observer) => {
      if (document.getElementById('confirm').hidden) return;
      observer.disconnect();
      window.tapped = true;
      for (const id of ['yes', 'change']) document.getElementById(id).click();
    }).observe(document.getElementById('confirm'), { attributes: true })`);
    const wallet = Wallet.createRandom().address;
    await give(page, wallet);
    await page.waitForSelector('#yes[aria-disabled=false]');
    expect(await page.evaluate('tapped')).toBe(true);
    expect(await page.locator('#confirm-address').textContent()).toBe(wallet);
    expect(await page.locator('#confirm').isVisible()).toBe(true);
    expect(calls.filter(({ path }) => path === held.nftId)).toEqual([]);
    await confirm(page);
    await headline(page, 'It is yours');
    await close();
  });

  test.each([
    [320, '100%'],
    [360, '200%'],
    [360, '100%'],
  ])('stays within its card at %i px and letters of %s', async (width, size) => {
    const { page, close } = await open({ viewport: { width, height: 740 } });
    await page.goto(held.link);
    await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
    await give(page, Wallet.createRandom().address);
    await headline(page, 'Is this your wallet?');
    const beyond = `[...document.querySelectorAll('#confirm *')].filter((each) =>
      each.getBoundingClientRect().right > document.getElementById('confirm').getBoundingClientRect().right)
      .map(({ textContent }) => textContent)`;
    expect([await page.evaluate(beyond), await overhang(page)]).toEqual([[], 0]);
    await close();
  });

  test('is warned about when a program is there, and only then', async () => {
    const { page, close } = await open();
    const recipient = Wallet.createRandom().address;
    await page.goto(held.link);
    for (const [hasCode, isWarned] of [
      [true, true],
      [null, false],
      [false, false],
    ] as const) {
      await recipientAnswer(page, { recipient, hasCode });
      await give(page, recipient);
      await headline(page, 'Is this your wallet?');
      expect([hasCode, await page.getByText('A program is at this address.').isVisible()]).toEqual([
        hasCode,
        isWarned,
      ]);
      if (isWarned) expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
      await page.getByRole('button', { name: 'Change' }).click();
    }
    await close();
  });

  test('is confirmed without a warning when nobody answers for it, and checked with the claim', async () => {
    const { page, close } = await open();
    await page.goto(held.link);
    await page.route('**/recipient', (route) => route.abort());
    const wallet = Wallet.createRandom().address;
    // The first letter in its other case.
    const wrong = wallet.replace(/[a-f]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    await give(page, wrong);
    await headline(page, 'Is this your wallet?');
    expect(await page.locator('#confirm-program').textContent()).toBe('');
    await confirm(page);
    await page.getByRole('alert').filter({ hasText: 'do not fit together' }).waitFor();
    expect(await nftOf(held.nftId)).toMatchObject({ claimStatus: 'unclaimed', recipient: null });
    await claimFor(page, wallet);
    await headline(page, 'It is yours');
    await close();
  });

  test.each([
    [400, 'recipient_unusable', 'addressUnusable'],
    [409, 'rwa_not_claimable', 'closedNow'],
    [429, 'mint_quota_exceeded', 'quota'],
    [429, 'rate_limited', 'tooMany'],
  ])('is not confirmed after %i %s', async (status, code, name) => {
    const { page, calls, close } = await open();
    await page.goto(held.link);
    const detail = 'recipient must not be a contract of an RWA';
    await recipientAnswer(page, { code, detail }, status);
    await give(page, Wallet.createRandom().address);
    await page
      .getByRole('alert')
      .filter({ hasText: piecesOf(name)[0] ?? '' })
      .waitFor();
    expect(await page.locator('#confirm').isVisible()).toBe(false);
    expect(await page.getByText(detail).count()).toBe(0);
    expect(calls.filter(({ path }) => path === held.nftId)).toEqual([]);
    await close();
  });
});
