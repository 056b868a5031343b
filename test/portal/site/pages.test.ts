import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { desktop, faultsOf, type Open, overhang, phone, useBrowser, visit, wideTables } from './browser.ts';
import { tools } from './tools.ts';

/** Every page of the portal. */
async function addresses(): Promise<string[]> {
  const start = `${inject('live').baseUrl}/docs/`;
  const texts = new Set(['index.html']);
  for (const path of texts) {
    const html = await (await fetch(`${start}${path}`)).text();
    for (const [, href = ''] of html
      .replaceAll(/<script[\s\S]*?<\/script>/g, '')
      .matchAll(/<a [^>]*href="([^"#]+)/g)) {
      const url = new URL(href, `${start}${path}`);
      if (url.href.startsWith(start) && url.pathname.endsWith('.html'))
        texts.add(url.href.slice(start.length));
    }
  }
  // What is not there has a page, too.
  return [...texts, 'missing.html'];
}

/** Opens what a reader may open. */
const openAll = (page: Page) =>
  page.evaluate(`for (const part of document.querySelectorAll('main details')) part.open = true;
    for (const button of document.querySelectorAll('button.try')) button.click();`);

// One page of each template: dark changes only colours, which a page takes from its template.
const templates =
  /\/docs\/(index|events|claim|minting|changelog|missing|problems|problems\/rate_limited|operate\/metrics|internals\/(architecture|contributing\/style))\.html$/;

describe.skipIf(tools.chromium === undefined)('in a browser', () => {
  const open = useBrowser();
  let all: string[];
  /** Every address within the portal that a page links to, with that page. */
  const targets = new Map<string, string>();
  beforeAll(async () => {
    all = await addresses();
    expect(all.length).toBeGreaterThan(70);
  });

  /** Visits every page in a window, and gives what `look` has against each. */
  async function complaintsOf(
    options: Parameters<Open>[0],
    look: (page: Page) => Promise<string[]>,
  ): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    const queue = [...all];
    const lane = async () => {
      const { page, complaints } = await open(options);
      for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
        complaints.length = 0;
        await visit(page, path);
        await openAll(page);
        const seen = await look(page);
        if (seen.length + complaints.length > 0) found[path] = [...complaints, ...seen];
      }
      await page.context().close();
    };
    await Promise.all([lane(), lane()]);
    return found;
  }

  test('every page is free of errors, foreign requests and faults of access of any impact, in light', async () => {
    const look = async (page: Page) => {
      const hrefs: string[] = await page.evaluate(
        `[...document.querySelectorAll('a[href]')].map(({ href }) => href)`,
      );
      for (const href of hrefs) if (href.includes('/docs/')) targets.set(href, page.url());
      return [...(await faultsOf(page)), ...(await wideTables(page))];
    };
    expect(await complaintsOf(desktop, look)).toEqual({});
  });

  test('on a phone in dark nothing is wider than the screen, and every template is free of those faults', async () => {
    const look = async (page: Page) => {
      const wider = await overhang(page);
      const faults = templates.test(page.url()) ? await faultsOf(page) : [];
      return [...faults, ...(wider > 0 ? [`${wider} pixels too wide`] : [])];
    };
    expect(await complaintsOf(phone, look)).toEqual({});
  });

  test('every link leads to a page, and to the very place on it', async () => {
    const broken: string[] = [];
    const texts = new Map<string, string>();
    for (const [target, from] of targets) {
      const [file = '', hash] = target.split('#');
      if (!texts.has(file)) {
        const response = await fetch(file);
        texts.set(file, response.ok ? await response.text() : '');
      }
      const text = texts.get(file) ?? '';
      const known = hash === undefined || text.includes(`id="${hash}"`);
      if (text === '' || !known) broken.push(`${from}: ${target}`);
    }
    expect(targets.size).toBeGreaterThan(150);
    expect(broken).toEqual([]);
  });
});
