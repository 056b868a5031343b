import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { desktop, faultsOf, type Open, overhang, phone, useBrowser, visit } from './browser.ts';
import { contract, operations } from './sample-world.ts';
import { tools } from './tools.ts';

/** Every page of the portal, and every operation, which has a page of its own within its reference. */
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
  return [...texts, 'missing.html', ...operations.map(({ href }) => href)];
}

// A page shows the neighbours of an operation too, so that one as a whole stands for those of its reference.
const whole = new Set(contract.map(({ operations: [first] }) => first?.href));

/** The part of a page that is examined: the operation that an address names, else all. */
function partOf(path: string): string {
  const route = whole.has(path) ? undefined : /#(\/.+)$/.exec(path)?.[1];
  return route === undefined ? 'html' : `[data-section-id="${route}"]`;
}

describe.skipIf(tools.chromium === undefined)('in a browser', () => {
  const open = useBrowser();
  let all: string[];
  /** Every address within the portal that a page links to, with that page. */
  const targets = new Map<string, string>();
  /** The addresses of the sections of the references. */
  const places = new Set<string>();
  beforeAll(async () => {
    all = await addresses();
    expect(all.length).toBeGreaterThan(80);
  });

  /** Visits every page in a window, and gives what `look` has against each. */
  async function complaintsOf(
    options: Parameters<Open>[0],
    look: (page: Page, part: string) => Promise<string[]>,
  ): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    const queue = [...all];
    const lane = async () => {
      const { page, complaints } = await open(options);
      for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
        complaints.length = 0;
        await visit(page, path);
        const seen = await look(page, partOf(path));
        if (seen.length + complaints.length > 0) found[path] = [...complaints, ...seen];
      }
      await page.context().close();
    };
    await Promise.all([lane(), lane()]);
    return found;
  }

  test('every page is free of errors, foreign requests and faults of access of any impact, in light', async () => {
    const look = async (page: Page, part: string) => {
      const hrefs: string[] = await page.evaluate(
        `[...document.querySelectorAll('a[href]')].map(({ href }) => href)`,
      );
      for (const href of hrefs) if (href.includes('/docs/')) targets.set(href, page.url());
      const sections: string[] = await page.evaluate(
        `[...document.querySelectorAll('[data-section-id]')].map((section) => section.dataset.sectionId)`,
      );
      for (const section of sections) places.add(`${page.url().split('#')[0]}#${section}`);
      return faultsOf(page, part);
    };
    expect(await complaintsOf(desktop, look)).toEqual({});
  });

  test('the same on a phone in dark, where nothing is wider than the screen', async () => {
    const look = async (page: Page, part: string) => {
      const wider = await overhang(page);
      return [...(await faultsOf(page, part)), ...(wider > 0 ? [`${wider} pixels too wide`] : [])];
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
      const known = hash?.startsWith('/')
        ? places.has(`${file}#${hash}`)
        : hash === undefined || text.includes(`id="${hash}"`);
      if (text === '' || !known) broken.push(`${from}: ${target}`);
    }
    expect(targets.size).toBeGreaterThan(150);
    expect(broken).toEqual([]);
  });
});
