import type { Page } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import { findOperation } from '../../../scripts/docs/contract.ts';
import { callOf } from '../../../scripts/docs/samples/call.ts';
import { operationOn, phone, usePage, visit } from './browser.ts';
import { contract, operations } from './sample-world.ts';
import { tools } from './tools.ts';

const named = (operationId: string) => findOperation(contract, operationId);

/** The operations that a page of an error lists, each by its address. */
async function listedOn(page: string): Promise<string[]> {
  const html = await (await fetch(`${inject('live').baseUrl}/docs/${page}`)).text();
  const [, list = ''] = /<h2>Where it occurs<\/h2>([\s\S]*)<\/article>/.exec(html) ?? [];
  return [...list.matchAll(/href="\.\.\/([^"]+)"/g)].map(([, href = '']) => href);
}

const panelOf = (page: Page, operationId: string) =>
  page.getByRole('region', { name: `Call: ${named(operationId).summary}`, exact: true });

describe.skipIf(tools.chromium === undefined)('the reference', () => {
  const tab = usePage();

  test('leads from each status of each operation to the pages of its errors, which list the operation', async () => {
    const { page } = tab.visit;
    const lists = new Map<string, string[]>();
    for (const operation of operations) {
      const { href, responses, operationId } = operation;
      await visit(page, href);
      const part = operationOn(page, operation);
      // Each status once, in the order of the document.
      expect([operationId, await part.locator('.answer > summary b').allTextContents()]).toEqual([
        operationId,
        Object.keys(responses),
      ]);
      const statuses = Object.keys(responses).filter((status) => Number(status) >= 400);
      expect(statuses.length).toBeGreaterThan(1);
      const led: string[] = [];
      for (const status of statuses) {
        const links = part
          .locator('.answer', { has: page.locator('summary b', { hasText: status }) })
          .locator('a[href^="problems/"]');
        const pages: string[] = await links.evaluateAll((all) =>
          all.map((link) => link.getAttribute('href') ?? ''),
        );
        expect(pages.length).toBeGreaterThan(0);
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
      const order = tags.flatMap(({ name }) => own.filter((operation) => operation.tags[0] === name));
      expect(order).toHaveLength(own.length);
      const [first] = order;
      if (first === undefined) throw new Error(`${area} has no operation`);
      await visit(page, `${area}.html`);
      expect(await page.title()).toBe(`Tallystick ${title}`);
      await page
        .getByRole('navigation', { name: 'Operations' })
        .getByRole('link', { name: first.summary })
        .click();
      for (const [index, { summary }] of order.entries()) {
        await expect.poll(() => page.title()).toBe(`${summary} · Tallystick ${title}`);
        await page.locator('.side a[aria-current]', { hasText: summary }).waitFor();
        const around = page.getByRole('navigation', { name: `Before and after: ${summary}`, exact: true });
        const words = (await around.getByRole('link').allTextContents()).map((text) => text.trim());
        expect(words).toEqual([
          ...(index === 0 ? [] : [`Previous ${order[index - 1]?.summary}`]),
          ...(index + 1 === order.length ? [] : [`Next ${order[index + 1]?.summary}`]),
        ]);
        if (index + 1 < order.length) await around.getByRole('link', { name: 'Next' }).click();
      }
    }
    expect(tab.visit.complaints).toEqual([]);
  });

  test('says what to send before the headers, and no pattern that is said in words', async () => {
    const { page } = tab.visit;
    for (const { area, operations: own } of contract) {
      await visit(page, `${area}.html`);
      for (const operation of own) {
        const part = operationOn(page, operation);
        const titles = await part.locator('.request h4').allTextContents();
        const order = ['In the path', 'In the query', 'Body', 'Headers'];
        const places = titles.map((title) => order.findIndex((each) => title.startsWith(each)));
        expect([operation.operationId, places]).toEqual([operation.operationId, places.toSorted()]);
        expect(places).not.toContain(-1);
        const parts = await part.locator('.answer').first().locator('h4, summary').allTextContents();
        const [body, headers] = ['Body', 'Headers: '].map((word) =>
          parts.findIndex((text) => text.startsWith(word)),
        );
        expect([operation.operationId, (headers ?? -1) > (body ?? -1)]).toEqual([
          operation.operationId,
          true,
        ]);
      }
      // A pattern is shown with nothing but a type and limits before it.
      expect(
        await page.locator('.fields li:has(> .field-name span > code)', { hasText: 'It must be' }).count(),
      ).toBe(0);
      expect(await page.locator('.field-name span:has(> code)', { hasText: /^[a-z ]+\([a-z]/ }).count()).toBe(
        0,
      );
    }
    await visit(page, named('getTokenBalance').href);
    const address = operationOn(page, named('getTokenBalance'))
      .locator('.request li', { hasText: 'address' })
      .first();
    expect(await address.textContent()).toContain('It must be 0x and 40 hex digits.');
  });

  test.each([
    ['a desktop', {}],
    ['a phone', phone],
  ])('wraps the lines of its samples on %s', async (_name, options) => {
    const { page } = await tab.open(options);
    for (const { area } of contract) {
      await visit(page, `${area}.html`);
      const cut: string[] = await page
        .locator('.call pre:visible')
        .evaluateAll((all) =>
          all.filter((pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.textContent ?? ''),
        );
      expect(cut).toEqual([]);
      expect(await page.locator('.call pre:visible').count()).toBeGreaterThan(1);
    }
    await page.context().close();
  });

  test('on a phone has the sample and the form below the description, and nothing lies over the text', async () => {
    const { page } = await tab.open({ ...phone, viewport: { width: 360, height: 780 } });
    for (const { area, operations: own } of contract) {
      await visit(page, `${area}.html`);
      for (const operation of own) {
        const part = operationOn(page, operation);
        const places = await Promise.all(
          ['.about', 'figure.code:visible', 'button.try', '.request', '.answers'].map(
            async (selector) => (await part.locator(selector).first().boundingBox())?.y ?? 0,
          ),
        );
        expect([operation.operationId, places]).toEqual([
          operation.operationId,
          places.toSorted((a, b) => a - b),
        ]);
      }
      const over: string[] = await page.evaluate(
        `[...document.querySelectorAll('body *')].filter((each) => ['fixed', 'sticky'].includes(getComputedStyle(each).position) && each.getClientRects().length > 0).map((each) => each.className)`,
      );
      expect(over).toEqual(['bar']);
      const isWhole: boolean = await page.evaluate(`(() => {
        const tab = document.querySelector('.bar nav [aria-current]').getBoundingClientRect();
        const bar = document.querySelector('.bar nav').getBoundingClientRect();
        return tab.left >= bar.left - 1 && tab.right <= bar.right + 1;
      })()`);
      expect([area, isWhole]).toEqual([area, true]);
    }
    await page.context().close();
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
    for (const name of ['Networks', 'Events and attendees']) {
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
