import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { languages, type Texts, textsOf } from '../../../pages/page-modules.ts';
import { faultsOf, overhang, phone } from '../browser.ts';
import { tools } from '../tools.ts';
import { type Door, kept, makeDoor, open, patient, result, startAt, state, texts } from './door-page.ts';

const narrow = { viewport: { width: 360, height: 740 }, isMobile: true } as const;

// What Safari 14 and Chrome 85 do not have, of what a page may be tempted to call.
const newerParts = `
  for (const [of, names] of [
    [AbortSignal, ['timeout', 'any', 'abort']],
    [Array.prototype, ['at', 'findLast', 'findLastIndex', 'toSorted', 'toReversed', 'with']],
    [Object, ['hasOwn', 'groupBy']],
    [Map, ['groupBy']],
    [Promise, ['withResolvers', 'try']],
    [Element.prototype, ['replaceChildren', 'checkVisibility']],
    [crypto, ['randomUUID']],
    [Crypto.prototype, ['randomUUID']],
    [Uint8Array.prototype, ['toBase64', 'toHex']],
    [Uint8Array, ['fromBase64', 'fromHex']],
    [Navigator.prototype, ['wakeLock', 'vibrate', 'storage']],
    [window, ['structuredClone', 'AudioContext', 'scheduler', 'navigation']],
  ]) for (const name of names) delete of[name];
  if ([].at || navigator.wakeLock || window.AudioContext) throw new Error('not taken away');`;

const withoutEd25519 = `
  const importKey = SubtleCrypto.prototype.importKey;
  SubtleCrypto.prototype.importKey = function (format, key, algorithm, ...more) {
    if (algorithm.name === 'Ed25519') return Promise.reject(new DOMException('unknown', 'NotSupportedError'));
    return importKey.call(this, format, key, algorithm, ...more);
  };`;

/** A browser that reads codes by itself. Its detector says what \`window.seen\` has. */
const ownDetector = (detect: string) => `
  window.seen = '';
  window.BarcodeDetector = class {
    static getSupportedFormats = async () => ['qr_code'];
    detect = async () => { ${detect} };
  };`;

describe.skipIf(tools.chromium === undefined)('the page at the door', () => {
  let door: Door;
  let ticket: string;
  beforeEach(async () => {
    door = await makeDoor();
    ticket = await door.addGuest('user-1');
    onTestFinished(() => door.proxy.close());
  });

  test('scans without what older browsers do not have', async () => {
    const { page, hold, complaints, close } = await open({ options: narrow, script: newerParts });
    await startAt(page, door.link);
    await hold(ticket);
    await result(page, 'Admitted');
    expect(complaints()).toEqual([]);
    await close();
  });

  test('lets the browser read codes where it can', async () => {
    const script = ownDetector(`return window.seen === '' ? [] : [{ rawValue: window.seen }];`);
    const { page, close } = await open({ script });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await startAt(page, door.link);
    await page.evaluate(`window.seen = ${JSON.stringify(ticket)}`);
    await result(page, 'Admitted');
    await close();
  });

  test('reads codes itself where the browser only says that it can', async () => {
    const { page, hold, close } = await open({ script: ownDetector(`throw new Error('no service');`) });
    await startAt(page, door.link);
    await hold(ticket);
    await result(page, 'Admitted');
    await close();
  });

  test('admits nobody without the service where the browser cannot verify tickets', async () => {
    const { page, hold, takeAway, close } = await open({ script: withoutEd25519 });
    await startAt(page, door.link);
    await kept(page);
    await page.context().setOffline(true);
    await hold(ticket);
    await result(page, texts['unverifiedTitle'] ?? '');
    expect(await page.locator('#result').getAttribute('data-mood')).toBe('bad');
    await page.context().setOffline(false);
    await state(page, 'Everything was sent.');
    const kinds = () => door.proxy.checkIns.flatMap((body) => JSON.parse(body).scans as { kind: string }[]);
    // The scan and its undo, in any order.
    expect(new Set(kinds().map(({ kind }) => kind))).toEqual(new Set(['entry', 'undo']));
    await takeAway();
    await hold(ticket);
    await result(page, 'Admitted');
    await close();
  });

  test.each([
    ['NotAllowedError', 'cameraDenied'],
    ['NotFoundError', 'cameraMissing'],
    ['NotReadableError', 'cameraBusy'],
    ['Error', 'cameraFailed'],
  ])('says in words what is wrong with the camera: %s', async (name, said) => {
    const script = `navigator.mediaDevices.getUserMedia = () => Promise.reject(Object.assign(new Error('x'), { name: '${name}' }));`;
    const { page, close } = await open({ script });
    await page.goto(door.link);
    await page.getByRole('button', { name: 'Start the camera' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: texts[said] ?? '' })
      .waitFor();
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    // Another way in is there.
    await page.locator('#text').fill(ticket);
    await page.locator('#text').press('Enter');
    await result(page, 'Admitted');
    await close();
  });

  test('takes user IDs where the event does', async () => {
    const { page, close } = await open();
    await page.goto(door.link);
    await page.getByLabel('User ID or ticket').fill('user-1');
    await page.getByRole('button', { name: 'Check' }).click();
    await result(page, 'Admitted');
    await page.getByLabel('User ID or ticket').fill('nobody');
    await page.getByRole('button', { name: 'Check' }).click();
    await result(page, 'Not valid');
    await page.getByText(texts['reasonService'] ?? '').waitFor();
    await close();
  });

  test('says so where nothing can be kept, and where it never had a connection', async () => {
    const private_ = await open({
      script: `Object.defineProperty(window, 'indexedDB', { value: { open() { throw new Error('no'); } } });`,
    });
    await private_.page.goto(door.link);
    await private_.page.getByRole('heading', { name: texts['noStoreTitle'] ?? '' }).waitFor();
    await private_.close();
    const { page, close } = await open();
    await page.route('**/events/**', (route) => route.abort());
    await page.goto(door.link);
    await page.getByRole('heading', { name: texts['firstTimeTitle'] ?? '' }).waitFor();
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    await page.unroute('**/events/**');
    await page.getByRole('button', { name: 'Look again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Spring fair' }).waitFor();
    await close();
  });

  test.each([
    ['modules', '**/door', /type="module"/, 'type="not-yet"'],
    ['a newer word of the language', '**/assets/words.js', /^/, 'nonsense nonsense;'],
  ])('says so in a browser that does not read %s', async (_, address, part, other) => {
    const { page, close } = await open({ options: { ...narrow, locale: 'de-DE' } });
    await page.route(address, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace(part, other) });
    });
    await page.goto(door.link);
    await page.getByRole('heading', { name: 'konnte nicht starten' }).waitFor();
    await page.getByText('Was gescannt wurde, bleibt auf diesem Telefon.').waitFor();
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    await close();
  });

  test('opens without a network, and is replaced by the next release', async () => {
    const { page, close } = await open();
    await page.goto(door.link);
    await kept(page);
    await page.getByRole('heading', { level: 1, name: 'Spring fair' }).waitFor();
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Spring fair' }).waitFor();
    await page.context().setOffline(false);
    const caches = () => page.evaluate('caches.keys()') as Promise<string[]>;
    const [old] = await caches();
    door.proxy.release('Newer');
    await page.reload();
    // The new worker has its own cache, and deletes the old one.
    await expect.poll(caches, patient).not.toContain(old);
    expect(await caches()).toHaveLength(1);
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Spring fair' }).waitFor();
    expect(await page.evaluate('fetch(location.href).then((answer) => answer.text())')).toContain(
      '<title>Newer',
    );
    await close();
  });

  test.each([
    ['en-GB', 'en'],
    ['de-AT', 'de'],
    ['fr-CA', 'fr'],
    ['es-MX', 'es'],
    ['pt-BR', 'pt'],
  ])('speaks to a browser of %s in %s', async (locale, language) => {
    const said: Texts = await textsOf(language, 'door');
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, hold, complaints, close } = await open({ options: { ...phone, colorScheme, locale } });
      await page.goto(door.link);
      await page.getByRole('button', { name: said['startCamera'] ?? '', exact: true }).click();
      for (const code of [ticket, 'nonsense']) {
        await hold(code);
        await page
          .locator(`#result[data-mood="${code === ticket ? 'good' : 'bad'}"], #result[data-mood="warn"]`)
          .waitFor();
        await page.locator('#recent summary').click();
        expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
      }
      expect(await page.getAttribute('html', 'lang')).toBe(language);
      // No text was forgotten, and no placeholder is left.
      expect(await page.locator('body').innerText()).not.toMatch(/[{}]|undefined/);
      expect(complaints()).toEqual([]);
      await close();
    }
  });

  test('says so in every language where scripts are switched off', async () => {
    const { page, close } = await open({ options: { ...narrow, javaScriptEnabled: false } });
    await page.goto(door.link);
    expect(await page.locator('noscript p').count()).toBe(languages.length);
    expect(await page.locator('noscript p').first().isVisible()).toBe(true);
    await close();
  });
});
