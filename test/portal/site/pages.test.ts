import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { desktop, faultsOf, open, overhang, phone, visit, wideTables } from './browser.ts';
import { tools } from './tools.ts';

/** Every page of the portal, but those that Redoc makes. */
async function addresses(): Promise<string[]> {
  const start = `${inject('live').baseUrl}/docs/`;
  const texts = new Set(['index.html']);
  for (const path of texts) {
    const html = await (await fetch(`${start}${path}`)).text();
    for (const [, href = ''] of html
      .replaceAll(/<script[\s\S]*?<\/script>/g, '')
      .matchAll(/<a [^>]*href="([^"#]+)/g)) {
      const url = new URL(href, `${start}${path}`);
      const found = url.href.slice(start.length);
      if (!url.href.startsWith(start) || !found.endsWith('.html')) continue;
      if (!found.startsWith('redoc/')) texts.add(found);
    }
  }
  // What is not there has a page, too.
  return [...texts, 'missing.html'];
}

/** Opens what a reader may open. */
const openAll = (page: Page) =>
  page.evaluate(`for (const part of document.querySelectorAll('main details')) part.open = true;
    for (const button of document.querySelectorAll('button.try')) button.click();`);

/**
 * How a page is built, as far as it is not known: which element stands in which, and which heading follows which. Takes
 * operations away that are built as those before.
 */
const newStructure = (page: Page, known: ReadonlySet<string>): Promise<string[]> =>
  page.evaluate(`(() => {
    const known = new Set(${JSON.stringify([...known])});
    const found = new Set();
    const isTelling = ({ name }) => /^(role|type|alt|scope|for|aria-.*)$/.test(name);
    const kindOf = (element) => {
      const names = [...element.attributes].filter(isTelling).map(({ name, value }) => name === 'role' ? value : name);
      return [element.localName, ...element.classList, ...names.toSorted()].join('.');
    };
    const note = (part) => {
      const headings = [...part.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(({ localName }) => localName);
      const places = [...part.querySelectorAll('*')].map((each) => kindOf(each.parentElement) + ' > ' + kindOf(each));
      const own = [...headings.slice(1).map((name, at) => headings[at] + ' + ' + name), ...places];
      const count = found.size;
      for (const place of own) if (!known.has(place)) found.add(place);
      return found.size > count;
    };
    for (const operation of document.querySelectorAll('.operation')) if (!note(operation)) operation.remove();
    note(document.body);
    return [...found];
  })()`);

// One page of each template: dark changes only colours, which a page takes from its template.
const templates =
  /\/docs\/(index|events|claim|minting|changelog|missing|problems|problems\/rate_limited|operate\/metrics|internals\/(architecture|contributing\/style))\.html$/;

describe.skipIf(tools.chromium === undefined)('in a browser', () => {
  let all: string[];
  const structures = new Set<string>();
  beforeAll(async () => {
    all = await addresses();
    expect(all.length).toBeGreaterThan(70);
  });

  /** Everything against a page, which stays as a phone shows it. */
  async function faultsOn(page: Page): Promise<string[]> {
    const wide = await wideTables(page);
    // As for a reader who turns a tablet.
    await page.setViewportSize(phone.viewport);
    const wider = await overhang(page);
    if (wider > 0) wide.push(`${wider} pixels too wide for a phone`);
    const structure = await newStructure(page, structures);
    for (const each of structure) structures.add(each);
    const faults: string[] = [];
    if (templates.test(page.url())) {
      await page.emulateMedia({ colorScheme: phone.colorScheme });
      faults.push(...(await faultsOf(page)));
      await page.emulateMedia({ colorScheme: desktop.colorScheme });
    }
    await page.setViewportSize(desktop.viewport);
    if (structure.length > 0) faults.push(...(await faultsOf(page)));
    return [...wide, ...faults];
  }

  test('every page is free of errors, foreign requests and anything too wide, and whatever is built in a new way of faults of access', async () => {
    const found: Record<string, string[]> = {};
    const queue = [...all];
    let examined = 0;
    const lane = async () => {
      const { page, complaints } = await open();
      for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
        complaints.length = 0;
        await visit(page, path);
        await openAll(page);
        const known = structures.size;
        const seen = await faultsOn(page);
        if (structures.size > known) examined += 1;
        if (seen.length + complaints.length > 0) found[path] = [...complaints, ...seen];
      }
      await page.context().close();
    };
    await Promise.all([lane(), lane()]);
    expect(found).toEqual({});
    expect(examined).toBeGreaterThan(10);
  });
});
