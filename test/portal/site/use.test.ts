import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  closeSearch,
  desktop,
  open,
  phone,
  readOperation,
  search,
  searchAll,
  usePage,
  visit,
} from './browser.ts';
import { contract, operations } from './sample-world.ts';
import { tools } from './tools.ts';

const folder = fileURLToPath(new URL('../../../dist/portal/', import.meta.url));

/** What has the focus: its text, where it is, and how one sees it. */
const focused = (page: Page): Promise<{ text: string; tag: string; seen: boolean; href: string }> =>
  page.evaluate(`(() => {
    const element = document.activeElement;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const marked = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
    return {
      text: (element.getAttribute('aria-label') ?? element.textContent).trim(),
      tag: element.tagName,
      seen: marked && box.width > 0 && box.left >= 0,
      href: element.getAttribute('href') ?? '',
    };
  })()`);

const isDark = (page: Page): Promise<boolean> =>
  page.evaluate(`getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'`);

describe.skipIf(tools.chromium === undefined)('a reader', () => {
  const tab = usePage();

  test('finds every operation by its name and by its id', async () => {
    const { page } = tab.visit;
    for (const [start, root] of [
      ['problems/event_full.html', '../'],
      ['rwa.html', ''],
    ] as const) {
      await visit(page, start);
      for (const name of ['summary', 'operationId'] as const) {
        const all = await searchAll(
          page,
          operations.map((operation) => operation[name]),
        );
        expect(all.map(([first]) => first?.href)).toEqual(operations.map(({ href }) => `${root}${href}`));
      }
    }
  });

  test('goes from the search to an operation and to a heading with the keyboard alone', async () => {
    const { page } = tab.visit;
    await visit(page, 'events.html');
    await search(page, 'queue an nft');
    await page.keyboard.press('ArrowDown');
    expect((await focused(page)).seen).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL(/rwa\.html#\/minting\/mintnft$/);
    await page.waitForSelector('[id="/minting/mintnft"]');
    await search(page, 'states of a mint');
    await page.keyboard.press('Enter');
    await page.waitForURL(/minting\.html#the-states-of-a-mint$/);
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog.search[open]');
    await closeSearch(page);
  });

  test.each(['index.html', 'minting.html', 'problems/event_full.html', 'events.html'])(
    'skips to the content of %s, and sees where the focus is',
    async (path) => {
      const { page } = tab.visit;
      await visit(page, path);
      await page.keyboard.press('Tab');
      expect(await focused(page)).toMatchObject({ text: 'Skip to content', seen: true });
      for (let stop = 0; stop < 24; stop += 1) {
        await page.keyboard.press('Tab');
        const { seen, text } = await focused(page);
        expect([text, seen]).toEqual([text, true]);
      }
      await visit(page, path);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect((await focused(page)).tag).toBe('MAIN');
      const address = new URL(page.url());
      expect(address.pathname.endsWith(path)).toBe(true);
    },
  );

  test('chooses between light and dark once for all pages', async () => {
    const { page } = tab.visit;
    await visit(page, 'index.html');
    expect(await isDark(page)).toBe(false);
    await page.getByLabel('Switch between light and dark').click();
    for (const path of ['index.html', 'limits.html', 'rwa.html']) {
      await visit(page, path);
      expect([path, await isDark(page)]).toEqual([path, true]);
    }
    await page.getByLabel('Switch between light and dark').click();
    expect(await isDark(page)).toBe(false);
    await visit(page, 'index.html');
    expect(await isDark(page)).toBe(false);
  });

  test('chooses a language once for all samples, and copies one as it stands', async () => {
    const { page } = tab.visit;
    await visit(page, 'index.html');
    await page.getByRole('tab', { name: 'curl' }).first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('.tabs pre:visible').allTextContents()).toEqual(
      Array(3).fill(expect.stringContaining('import os')),
    );
    await visit(page, 'minting.html');
    expect(await page.getByRole('tab', { name: 'Python', selected: true }).count()).toBe(3);
    await page.locator('.tabs button:visible', { hasText: 'Copy' }).first().click();
    await page.getByText('Copied').waitFor();
    const copied: string = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toContain('import json\nimport os\nimport time\n');
  });

  test('opens the list of guides on a phone when it is wanted', async () => {
    const small = await open(phone);
    await visit(small.page, 'limits.html');
    expect(await small.page.getByRole('link', { name: 'Idempotency', exact: true }).isVisible()).toBe(false);
    await small.page.locator('summary', { hasText: 'Guides' }).click();
    await small.page.getByRole('link', { name: 'Idempotency', exact: true }).first().click();
    await small.page.waitForURL(/idempotency\.html$/);
    await small.page.context().close();
  });

  test('goes from a deep page of the documentation to another by search, and on by its links', async () => {
    const { page, complaints } = tab.visit;
    await visit(page, 'internals/decisions/001-one-database.html');
    expect((await search(page, 'stuck mints'))[0]?.href).toMatch(/^\.\.\/\.\.\/operate\/stuck-mints\.html/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/operate\/stuck-mints\.html/);
    await page.getByRole('main').getByRole('link', { name: 'Minting', exact: true }).first().click();
    await page.waitForURL(/\/docs\/internals\/minting\.html/);
    expect(complaints).toEqual([]);
  });

  test('reads and searches a copy of the portal in a folder, without a server', async () => {
    const { page, complaints } = tab.visit;
    await page.goto(`file://${folder}index.html`);
    expect((await search(page, 'create an event'))[0]?.href).toMatch(/^events\.html#\/events\/createevent$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[id="/events/createevent"]');
    expect(complaints).toEqual([]);
  });

  test('reads every guide, every error and every operation without scripts', async () => {
    const plain = await open({ ...desktop, javaScriptEnabled: false });
    for (const [path, text] of [
      ['minting.html', 'The states of a mint'],
      ['problems/event_full.html', 'What to do'],
      ['index.html', 'curl -G'],
      ['operate/stuck-mints.html', 'finality_unknown'],
    ] as const) {
      await visit(plain.page, path);
      expect(await plain.page.getByText(text).first().isVisible()).toBe(true);
    }
    for (const { area, operations: own } of contract) {
      await visit(plain.page, `${area}.html`);
      for (const operation of own) {
        const { operationId, summary, fullPath, parameters, responses } = operation;
        const [text, isLedOn] = await readOperation<[string, boolean]>(
          plain.page,
          operation,
          `(part) => {
            const text = part.textContent;
            const failure = [...part.querySelectorAll('.answer')].at(-1);
            failure.open = true;
            return [text, failure.querySelector('a[href^="problems/"]').checkVisibility()];
          }`,
        );
        const names = [summary, fullPath, ...parameters.map(({ name }) => name), ...Object.keys(responses)];
        const lacking = [...names, 'curl ', 'urlopen('].filter((name) => !text.includes(name));
        expect([operationId, lacking]).toEqual([operationId, []]);
        expect([operationId, isLedOn]).toEqual([operationId, true]);
      }
      const success = plain.page.locator('.answer').first();
      expect(await success.getByText('Body').first().isVisible()).toBe(true);
      await success.locator('summary').first().click();
      expect(await success.getByText('Body').first().isVisible()).toBe(false);
      // Nothing that would do nothing.
      expect(await plain.page.locator('button:visible, select:visible, input:visible').count()).toBe(0);
    }
    await plain.page.context().close();
  });
});
