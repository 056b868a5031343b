import { Wallet } from 'ethers';
import { beforeEach, describe, expect, test } from 'vitest';
import { languages, type Texts, textsOf } from '../../../pages/page-modules.ts';
import { faultsOf, overhang } from '../browser.ts';
import { tools } from '../tools.ts';
import { alterClaim, claimFor, type Held, headline, open, printCode } from './claim-page.ts';

const narrow = { viewport: { width: 360, height: 740 }, isMobile: true } as const;

// What Safari 14 and Chrome 85 do not have, of what a page may be tempted to call.
const takeAway = `
  for (const [of, names] of [
    [AbortSignal, ['timeout', 'any', 'abort']],
    [Array.prototype, ['at', 'findLast', 'findLastIndex', 'toSorted', 'toReversed', 'toSpliced', 'with', 'group']],
    [Array, ['fromAsync']],
    [String.prototype, ['at', 'isWellFormed', 'toWellFormed']],
    [Object, ['hasOwn', 'groupBy']],
    [Promise, ['withResolvers', 'try']],
    [Set.prototype, ['union', 'difference', 'intersection', 'symmetricDifference']],
    [Element.prototype, ['replaceChildren', 'checkVisibility', 'setHTMLUnsafe']],
    [Document.prototype, ['replaceChildren', 'startViewTransition']],
    [DocumentFragment.prototype, ['replaceChildren']],
    [HTMLElement.prototype, ['showPopover']],
    [Response, ['json']],
    [URL, ['canParse', 'parse']],
    [crypto, ['randomUUID']],
    [Crypto.prototype, ['randomUUID']],
    [window, ['structuredClone', 'Iterator', 'scheduler', 'navigation', 'reportError']],
  ]) for (const name of names) delete of[name];
  if ([].at || AbortSignal.timeout || Element.prototype.replaceChildren) throw new Error('not taken away');`;

describe.skipIf(tools.chromium === undefined)('the claim page', () => {
  let held: Held;
  beforeEach(async () => {
    held = await printCode();
  });

  test('claims without what older browsers do not have', async () => {
    const { page, complaints, close } = await open(narrow, takeAway);
    await page.goto(held.link);
    await headline(page, 'Yours to claim');
    await claimFor(page, Wallet.createRandom().address);
    await headline(page, 'It is yours');
    expect(complaints()).toEqual([]);
    await close();
  });

  test('works where a tab may store and copy nothing', async () => {
    const { page, close } = await open(
      narrow,
      `for (const name of ['sessionStorage', 'localStorage'])
         Object.defineProperty(window, name, { get() { throw new Error('blocked'); } });
       Object.defineProperty(navigator, 'clipboard', { value: undefined });`,
    );
    const wallet = Wallet.createRandom().address;
    await page.goto(held.link);
    await claimFor(page, wallet);
    await headline(page, 'It is yours');
    await page.getByRole('button', { name: 'Copy: Wallet' }).click();
    expect(await page.evaluate('getSelection().toString()')).toBe(wallet);
    await close();
  });

  test.each([
    ['modules', 'en-US', '**/claim/*-*', /type="module"/, 'type="not-yet"'],
    ['a newer word of the language', 'de-DE', '**/assets/words.js', /^/, 'nonsense nonsense;'],
    ['its table of texts', 'fr-FR', '**/assets/text-fr.js', /^/, 'nonsense nonsense;'],
  ])('says so in a browser that does not read %s', async (_, locale, address, part, other) => {
    const { page, calls, close } = await open({ ...narrow, locale });
    await page.route(address, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace(part, other) });
    });
    await page.goto(held.link);
    const words = { 'en-US': 'could not start', 'de-DE': 'konnte nicht starten', 'fr-FR': 'n’a pas pu' };
    await page.getByRole('heading', { name: words[locale as keyof typeof words] }).waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe(locale.slice(0, 2));
    expect(calls).toEqual([]);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    await close();
  });

  test('says so in every language where scripts are switched off', async () => {
    const { page, close } = await open({ ...narrow, javaScriptEnabled: false });
    await page.goto(held.link);
    expect(await page.locator('noscript p').count()).toBe(languages.length);
    expect(await page.locator('noscript p').first().isVisible()).toBe(true);
    await close();
  });

  const mintedAt = '2027-05-04T09:30:00.000Z';
  const minted = {
    claimStatus: 'minted',
    isClaimable: false,
    mintedAt,
    companyName: 'Casks & Co.',
    mintedTx: `0x${'a'.repeat(64)}`,
    recipient: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  };

  test.each([
    ['en-GB', 'en', '4 May 2027'],
    ['de-AT', 'de', '4. Mai 2027'],
    ['fr-CA', 'fr', '4 mai 2027'],
    ['es-MX', 'es', '4 de mayo de 2027'],
    ['pt-BR', 'pt', '4 de maio de 2027'],
    ['it-IT', 'en', 'May 4, 2027'],
  ])('speaks to a browser of %s in %s', async (locale, language, day) => {
    const texts: Texts = await textsOf(language);
    const { page, complaints, close } = await open({ ...narrow, locale, timezoneId: 'UTC' });
    await page.goto(held.link);
    await headline(page, texts['openTitle']);
    expect(await page.getAttribute('html', 'lang')).toBe(language);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    await page.locator('#recipient').fill('bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq');
    await page.locator('#next').click();
    await page
      .getByRole('alert')
      .filter({ hasText: texts['addressOtherCoin'] ?? '' })
      .waitFor();
    await page.locator('#recipient').fill(minted.recipient);
    await page.locator('#next').click();
    await headline(page, texts['confirmTitle']);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);

    await alterClaim(page, minted);
    await page.reload();
    await headline(page, texts['takenTitle']);
    expect(await page.locator('#time').textContent()).toContain(day);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    // No text was forgotten, and no placeholder is left.
    const shown = (await page.locator('body').innerText()).replace(/\s+/g, ' ');
    expect(shown).not.toMatch(/[{}]|undefined/);
    expect(complaints()).toEqual([]);
    await close();
  });

  test('speaks the first language of the browser that it knows', async () => {
    const { page, close } = await open(
      narrow,
      `Object.defineProperty(navigator, 'languages', { value: ['it', 'pt-PT', 'de'] });`,
    );
    await page.goto(held.link);
    await page.getByRole('heading', { name: 'Pronto para resgatar' }).waitFor();
    await close();
  });
});
