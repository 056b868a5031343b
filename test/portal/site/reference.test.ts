import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { findOperation } from '../../../scripts/docs/contract.ts';
import { callOf } from '../../../scripts/docs/samples/call.ts';
import { type Open, open, operationOn, phone, readOperation, usePage, type Visit, visit } from './browser.ts';
import { contract } from './sample-world.ts';
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

/** No line of a sample is cut off. */
async function expectWrapped(page: Page): Promise<void> {
  const cut: string[] = await page
    .locator('.call pre:visible')
    .evaluateAll((all) =>
      all.filter((pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.textContent ?? ''),
    );
  expect(cut).toEqual([]);
  expect(await page.locator('.call pre:visible').count()).toBeGreaterThan(1);
}

describe.skipIf(tools.chromium === undefined).each(contract)(
  'the reference of $area',
  ({ area, operations: own }) => {
    let tab: Visit;
    const load = async (options?: Parameters<Open>[0]) => {
      tab = await open(options);
      await visit(tab.page, `${area}.html`);
    };
    afterAll(() => tab.page.context().close());

    describe('on a desktop', () => {
      beforeAll(() => load());

      test('leads from each status of each operation to the pages of its errors, which list the operation', async () => {
        const { page } = tab;
        const lists = new Map<string, string[]>();
        for (const operation of own) {
          const { href, responses, operationId } = operation;
          const answers = await readOperation<{ status: string; pages: string[] }[]>(
            page,
            operation,
            `(part) => [...part.querySelectorAll('.answer')].map((answer) => ({
            status: answer.querySelector(':scope > summary b').textContent,
            pages: [...answer.querySelectorAll('a[href^="problems/"]')].map((link) => link.getAttribute('href')),
          }))`,
          );
          // Each status once, in the order of the document.
          expect([operationId, answers.map(({ status }) => status)]).toEqual([
            operationId,
            Object.keys(responses),
          ]);
          const errors = answers.filter(({ status }) => Number(status) >= 400);
          expect(errors.length).toBeGreaterThan(1);
          for (const { status, pages } of errors) {
            expect([operationId, status, pages.length]).not.toEqual([operationId, status, 0]);
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
          const led = errors.flatMap(({ pages }) => pages);
          expect([operationId, led.toSorted()]).toEqual([operationId, [...new Set(codes)].toSorted()]);
        }
      });

      test('says what to send before the headers, and no pattern that is said in words', async () => {
        const { page } = tab;
        for (const operation of own) {
          const [request, answer] = await readOperation<[string[], string[]]>(
            page,
            operation,
            `(part) => ['.request h4', '.answer:first-of-type :is(h4, summary)'].map((selector) =>
            [...part.querySelectorAll(selector)].map(({ textContent }) => textContent))`,
          );
          const order = ['In the path', 'In the query', 'Body', 'Headers'];
          const places = request.map((title) => order.findIndex((each) => title.startsWith(each)));
          expect([operation.operationId, places]).toEqual([operation.operationId, places.toSorted()]);
          expect(places).not.toContain(-1);
          const [body, headers] = ['Body', 'Headers: '].map((word) =>
            answer.findIndex((text) => text.startsWith(word)),
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
        expect(
          await page.locator('.field-name span:has(> code)', { hasText: /^[a-z ]+\([a-z]/ }).count(),
        ).toBe(0);
      });

      test('wraps the lines of its samples', () => expectWrapped(tab.page));
    });

    describe('on a phone', () => {
      beforeAll(async () => {
        await tab.page.context().close();
        await load({ ...phone, viewport: { width: 360, height: 780 } });
      });

      test('wraps the lines of its samples', () => expectWrapped(tab.page));

      test('has the sample and the form below the description, and nothing lies over the text', async () => {
        const { page } = tab;
        for (const operation of own) {
          const places = await readOperation<number[]>(
            page,
            operation,
            `(part) => ['.about', 'figure.code', 'button.try', '.request', '.answers'].map((selector) =>
            [...part.querySelectorAll(selector)].map((each) => each.getBoundingClientRect()).find(({ width }) => width > 0).y)`,
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
      });
    });
  },
);

describe.skipIf(tools.chromium === undefined)('the reference', () => {
  const tab = usePage();

  test('says a pattern in words', async () => {
    const { page } = tab.visit;
    await visit(page, named('getTokenBalance').href);
    const address = operationOn(page, named('getTokenBalance'))
      .locator('.request li', { hasText: 'address' })
      .first();
    expect(await address.textContent()).toContain('It must be 0x and 40 hex digits.');
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
      await page.waitForURL((url) => url.hash !== '');
      // One after the other, by the link to the next.
      const read: { title: string; marked: string[]; around: string[]; label: string }[] =
        await page.evaluate(`(async () => {
          const read = [];
          const textOf = ({ textContent }) => textContent.trim();
          for (;;) {
            const around = document.getElementById(location.hash.slice(1)).querySelector('nav.around');
            read.push({
              title: document.title,
              marked: [...document.querySelectorAll('.side a[aria-current]')].map(textOf),
              label: around.ariaLabel,
              around: [...around.querySelectorAll('a')].map(textOf),
            });
            const next = around.querySelector('a[rel=next]');
            if (!next) return read;
            await new Promise((changed) => {
              addEventListener('hashchange', () => setTimeout(changed), { once: true });
              next.click();
            });
          }
        })()`);
      expect(read).toEqual(
        order.map(({ summary }, index) => ({
          title: `${summary} · Tallystick ${title}`,
          marked: [expect.stringContaining(summary)],
          label: `Before and after: ${summary}`,
          around: [
            ...(index === 0 ? [] : [`Previous ${order[index - 1]?.summary}`]),
            ...(index + 1 === order.length ? [] : [`Next ${order[index + 1]?.summary}`]),
          ],
        })),
      );
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
    for (const name of ['Networks', 'What it does not do', 'Events and attendees']) {
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
    await page.waitForURL(/what-it-does-not-do\.html$/);
    await visit(page, 'problems.html');
    await page.locator('main a[href^="problems/"]').first().click();
    await page.waitForURL(/problems\/\w+\.html$/);
    const codes = new Set<string>();
    for (let url: string | undefined = page.url(); url !== undefined; ) {
      expect(codes).not.toContain(url);
      codes.add(url);
      const [, next]: (string | undefined)[] =
        /<a rel="next" href="([^"]+)"/.exec(await (await fetch(url)).text()) ?? [];
      url = next && new URL(next, url).href;
    }
    const all = await (await fetch(`${inject('live').baseUrl}/docs/problems.html`)).text();
    expect(codes.size).toBe(new Set(all.match(/problems\/\w+\.html/g)).size);
  });
});
