import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeEach, inject } from 'vitest';
import type { Operation } from '../../../scripts/docs/contract.ts';
import { tools } from './tools.ts';

// Nothing but what is asked for: no updates, no reports, no other protocols.
export const flags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';

export const desktop = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const;
export const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true } as const;

export type Visit = {
  readonly page: Page;
  /** What a reader should never notice: errors on the console, broken policies, requests to other hosts. */
  readonly complaints: string[];
};

/** An empty page that notes what goes wrong on it. */
export async function openPage(browser: Browser, options: BrowserContextOptions): Promise<Visit> {
  const context = await browser.newContext({
    ...options,
    permissions: ['clipboard-write', 'clipboard-read'],
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const { host } = new URL(inject('live').baseUrl);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // What the browser itself gives up, since the page was left before a picture of it had come, is nobody's fault.
    if (reason !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()} (${reason})`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.host !== host) complaints.push(`asked ${url.href}`);
  });
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));`,
  );
  return { page, complaints };
}

export type Open = (options?: BrowserContextOptions) => Promise<Visit>;

let launched: Promise<Browser> | undefined;
afterAll(async () => (await launched)?.close());

/** Opens an empty page, by default on a desktop, in the one browser of this file. */
export const open: Open = async (options = desktop) => {
  launched ??= chromium.launch({ executablePath: tools.chromium ?? '', args: flags.split(' ') });
  return openPage(await launched, options);
};

/** An empty page for each test of a group. */
export function usePage(): { readonly visit: Visit } {
  let visit: Visit;
  beforeEach(async () => {
    visit = await open();
    return () => visit.page.context().close();
  });
  return {
    get visit() {
      return visit;
    },
  };
}

/** Goes to a page of the portal, or to a place on one. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(`${inject('live').baseUrl}/docs/${path}`);
}

/** The part of a reference that is about an operation. */
export const operationOn = (page: Page, { href }: Operation): Locator =>
  page.locator(`[id="${href.slice(href.indexOf('#') + 1)}"]`);

/** What a function in the page, given as a text, reads of the part about an operation. */
export const readOperation = <T>(page: Page, { href }: Operation, read: string): Promise<T> =>
  page.evaluate(`(${read})(document.getElementById(${JSON.stringify(href.slice(href.indexOf('#') + 1))}))`);

/** Everything that axe has against a page, of whatever impact, or against a part of it. */
export async function faultsOf(page: Page, within = 'html'): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe.source);
  return page.evaluate(`axe.run(${JSON.stringify(within)}, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, impact, nodes }) =>
      nodes.map((node) => id + ' (' + impact + '): ' + node.html.slice(0, 200) + ' ' + (node.any[0]?.message ?? ''))))`);
}

/** How far a page is wider than the window, in pixels. On a phone `innerWidth` grows with a page that is too wide. */
export const overhang = (page: Page): Promise<number> =>
  page.evaluate(`document.documentElement.scrollWidth - ${page.viewportSize()?.width}`);

/** The tables that are wider than the text around them. */
export const wideTables = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main table')]
    .filter((table) => table.getBoundingClientRect().right > document.querySelector('main').getBoundingClientRect().right + 1)
    .map((table) => 'too wide: ' + table.textContent.slice(0, 40))`);

/** What the search found, best first. */
export type Found = { readonly href: string; readonly gone: boolean };

async function openSearch(page: Page): Promise<void> {
  await page.keyboard.press('/');
  await page.waitForSelector('dialog.search[open]');
}

const found = `[...document.querySelectorAll('dialog.search a')].map((a) => ({ href: a.getAttribute('href'), gone: a.textContent.includes('no longer current') }))`;

/** Opens the search with its key and types; what is found stays on the page. */
export async function search(page: Page, text: string): Promise<Found[]> {
  await openSearch(page);
  await page.locator('dialog.search input').fill(text);
  return page.evaluate(found);
}

/** What is found for each of these texts, which are put one after the other into the search of a page. */
export async function searchAll(page: Page, texts: readonly string[]): Promise<Found[][]> {
  await openSearch(page);
  const all: Found[][] = await page.evaluate(`${JSON.stringify(texts)}.map((text) => {
    const input = document.querySelector('dialog.search input');
    input.value = text;
    input.dispatchEvent(new InputEvent('input'));
    return ${found};
  })`);
  await closeSearch(page);
  return all;
}

export async function closeSearch(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog.search:not([open])', { state: 'attached' });
}
