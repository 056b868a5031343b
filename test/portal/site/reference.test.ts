import type { Locator, Page } from 'playwright-core';
import { describe, expect, inject, test, vi } from 'vitest';
import { findOperation, type Operation } from '../../../scripts/docs/contract.ts';
import { callOf } from '../../../scripts/docs/samples/call.ts';
import { usePage, visit } from './browser.ts';
import { contract, operations } from './sample-world.ts';
import { tools } from './tools.ts';

const routeOf = (href: string) => href.slice(href.indexOf('#') + 1);
const named = (operationId: string) => findOperation(contract, operationId);

/** The operations that a page of an error lists, each by its address. */
async function listedOn(page: string): Promise<string[]> {
  const html = await (await fetch(`${inject('live').baseUrl}/docs/${page}`)).text();
  const [, list = ''] = /<h2>Where it occurs<\/h2>([\s\S]*)<\/article>/.exec(html) ?? [];
  return [...list.matchAll(/href="\.\.\/([^"]+)"/g)].map(([, href = '']) => href);
}

const panelOf = (page: Page, operationId: string) =>
  page.getByRole('region', { name: `Call: ${named(operationId).summary}`, exact: true });

/** Goes on as a reader does, who clicks again when the reference was still moving and came back to where it was. */
async function follow(page: Page, around: Locator, { href, summary }: Operation): Promise<void> {
  const heading = page.locator(`[data-section-id="${routeOf(href)}"] h2`);
  const isThere = async () => (await heading.isVisible()) && (await page.title()).startsWith(`${summary} · `);
  await vi.waitFor(
    async () => {
      if (await isThere()) return;
      await around.getByRole('link', { name: 'Next' }).click({ timeout: 3_000 });
      await expect.poll(isThere, { timeout: 3_000 }).toBe(true);
    },
    { timeout: 60_000 },
  );
}

describe.skipIf(tools.chromium === undefined)('the reference', () => {
  const tab = usePage();

  test('leads from each status of each operation to the pages of its errors, which list the operation', async () => {
    const { page } = tab.visit;
    const lists = new Map<string, string[]>();
    for (const { href, responses, operationId } of operations) {
      await visit(page, href);
      const statuses = Object.keys(responses).filter((status) => Number(status) >= 400);
      expect(statuses.length).toBeGreaterThan(1);
      const led: string[] = [];
      const tabs = page.locator(`[data-section-id="${routeOf(href)}"] [data-testid="middle-panel"]`);
      for (const status of statuses) {
        await tabs.getByRole('tab', { name: status, exact: true }).click();
        const links = tabs.locator('a[href^="problems/"]');
        await links.first().waitFor();
        const pages: string[] = await links.evaluateAll((all) =>
          all.map((link) => link.getAttribute('href') ?? ''),
        );
        for (const path of pages) {
          const listed = lists.get(path) ?? (await listedOn(path));
          lists.set(path, listed);
          expect([operationId, status, path, listed]).toEqual([
            operationId,
            status,
            path,
            expect.arrayContaining([href]),
          ]);
        }
        led.push(...pages);
      }
      // As many as the document names codes, each under one status.
      const codes = Object.values(responses).flatMap(({ content }) =>
        Object.values(content ?? {}).flatMap(({ examples }) =>
          Object.values(examples ?? {}).flatMap(({ value }) =>
            value !== null && typeof value === 'object' && 'code' in value
              ? [`problems/${value.code}.html`]
              : [],
          ),
        ),
      );
      expect([operationId, led.toSorted()]).toEqual([operationId, [...new Set(codes)].toSorted()]);
    }
    expect(lists.size).toBeGreaterThan(40);
  });

  test('names each operation in its title, and leads on from one to the next and back', async () => {
    const { page } = tab.visit;
    for (const { area, title, operations: own, tags } of contract) {
      const order = tags.flatMap((tag) => own.filter((operation) => operation.tags[0] === tag));
      expect(order).toHaveLength(own.length);
      const [first] = order;
      if (first === undefined) throw new Error(`${area} has no operation`);
      await visit(page, `${area}.html`);
      expect(await page.title()).toBe(`Tallystick ${title}`);
      await visit(page, first.href);
      for (const [index, { summary, href }] of order.entries()) {
        const section = page.locator(`[data-section-id="${routeOf(href)}"]`);
        await section.locator('h2').waitFor();
        await expect.poll(() => page.title(), { timeout: 10_000 }).toBe(`${summary} · Tallystick ${title}`);
        const around = section.getByRole('navigation', { name: `Before and after: ${summary}` });
        const words = (await around.getByRole('link').allTextContents()).map((text) => text.trim());
        expect(words).toEqual([
          ...(index === 0 ? [] : [`Previous ${order[index - 1]?.summary}`]),
          ...(index + 1 === order.length ? [] : [`Next ${order[index + 1]?.summary}`]),
        ]);
        const next = order[index + 1];
        if (next !== undefined) await follow(page, around, next);
      }
    }
    expect(tab.visit.complaints).toEqual([]);
  });

  test('shows samples in the language that was chosen on any page, in this window and in others', async () => {
    const { page } = tab.visit;
    await visit(page, 'minting.html');
    await page.getByRole('tab', { name: 'Python' }).first().click();
    await visit(page, named('createEvent').href);
    const panel = panelOf(page, 'createEvent');
    await panel.getByText('from urllib.request import').first().waitFor();
    const other = await page.context().newPage();
    await visit(other, 'index.html');
    await panel.getByRole('tab', { name: 'TypeScript' }).first().click();
    await other.getByText('await fetch(').first().waitFor();
    await visit(other, named('listRwas').href);
    expect(
      await panelOf(other, 'listRwas').getByRole('tab', { name: 'TypeScript', selected: true }).count(),
    ).toBe(1);
  });

  test('changes the samples and the body with the example that is chosen', async () => {
    const { page } = tab.visit;
    const operation = named('createEvent');
    await visit(page, operation.href);
    const panel = panelOf(page, 'createEvent');
    const examples = Object.values(operation.requestBody?.content ?? {}).flatMap(({ examples: all }) =>
      Object.entries(all ?? {}),
    );
    expect(examples.length).toBeGreaterThan(1);
    for (const [name, { value, summary }] of examples.toReversed()) {
      await panel.getByLabel('Example').selectOption(summary ?? name);
      const samples = await panel.locator('figure.code code:visible').allTextContents();
      expect(samples).toHaveLength(1);
      expect(samples[0]).toContain(`'${JSON.stringify(value).replaceAll("'", "'\\''")}'`);
      expect(JSON.parse(await panel.locator('[data-body]').inputValue())).toEqual(value);
    }
    expect(callOf(operation).body).toEqual(examples[0]?.[1].value);
  });

  test('has no copy button over the code that it copies', async () => {
    const { page } = tab.visit;
    for (const path of ['minting.html', named('createEvent').href]) {
      await visit(page, path);
      const code = page.locator('figure.code:visible').first();
      await code.getByRole('button', { name: 'Copy' }).waitFor();
      const boxes = [code.getByRole('button', { name: 'Copy' }), code.locator('pre')].map((each) =>
        each.boundingBox(),
      );
      const [button, text] = await Promise.all(boxes);
      expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(text?.y ?? 0);
    }
  });

  test('and the guides and errors have a way to the page before and after them', async () => {
    const { page } = tab.visit;
    await visit(page, 'authentication.html');
    for (const name of ['Networks', 'Minting an NFT']) {
      const link = page
        .getByRole('navigation', { name: 'Previous and next' })
        .getByRole('link', { name: 'Next' });
      expect((await link.textContent())?.trim()).toBe(`Next ${name}`);
      await link.click();
      await page
        .getByRole('navigation', { name: 'Guides' })
        .locator(`a[aria-current]:text-is("${name}")`)
        .waitFor();
    }
    await page.locator('a[rel="prev"]').click();
    await page.waitForURL(/networks\.html$/);
    const codes = new Set<string>();
    await visit(page, 'problems.html');
    await page.locator('main a[href^="problems/"]').first().click();
    for (;;) {
      await page.waitForURL(/problems\/\w+\.html$/);
      codes.add(page.url());
      const next = page.locator('a[rel="next"]');
      if ((await next.count()) === 0) break;
      await Promise.all([page.waitForURL((url) => !codes.has(url.href)), next.click()]);
    }
    const all = await (await fetch(`${inject('live').baseUrl}/docs/problems.html`)).text();
    expect(codes.size).toBe(new Set(all.match(/problems\/\w+\.html/g)).size);
  });
});
