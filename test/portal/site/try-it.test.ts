import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { findOperation, type Operation } from '../../../scripts/docs/contract.ts';
import { callOf } from '../../../scripts/docs/samples/call.ts';
import { faultsOf, open, overhang, phone, usePage, type Visit, visit } from './browser.ts';
import { ask, contract, makeThings, mintOne, operations, placeholders, type Things } from './sample-world.ts';
import { tools } from './tools.ts';

const attendee = 'user-7421';
const named = (operationId: string) => findOperation(contract, operationId);

/** The panel of an operation, with its form open. To find it by its role takes long on pages of this size. */
async function openForm(page: Page, { href, operationId, summary }: Operation): Promise<Locator> {
  await visit(page, href);
  await showOnly(page, operationId);
  const panel = page.locator(panelOf(operationId));
  await panel.getByRole('button', { name: `Try it: ${summary}`, exact: true }).click();
  return panel;
}

const panelOf = (operationId: string) => `section.call:has(> #${operationId}-try)`;

/** Hides the other operations of a reference: the browser would lay out all of them at each change. */
const showOnly = (page: Page, operationId: string) =>
  page.evaluate(`for (const each of document.querySelectorAll('.operation'))
    each.style.display = each.querySelector('#${operationId}-try') ? '' : 'none'`);

const fillKey = (panel: Locator) => panel.getByLabel('x-api-key').fill(inject('live').key);

/** Sends the form, saying yes where it asks, and gives the status that it shows. */
async function send(page: Page, panel: Locator, { method }: Operation): Promise<number> {
  await panel.getByRole('button', { name: 'Send', exact: true }).click();
  if (method !== 'GET') await page.locator('dialog.ask button.send').click();
  const said = panel.getByRole('status').filter({ hasText: /^Answered \d{3} .*in \d+ ms\.$/ });
  await said.waitFor();
  return Number(/\d{3}/.exec((await said.textContent()) ?? '')?.[0]);
}

const curlIn = async (panel: Locator) => (await panel.locator('.curl code').textContent()) ?? '';

/** What the shown command is answered, from a shell that has the key as the guides say. */
async function runCurl(command: string): Promise<string> {
  const env = { PATH: process.env['PATH'], TALLYSTICK_KEY: inject('live').key };
  return (await promisify(execFile)('sh', ['-c', command.replace('curl -i', 'curl -sSi')], { env })).stdout;
}

// One page for all operations of an area, since to load a reference takes longer than to try an operation.
describe.skipIf(tools.chromium === undefined).each(contract)(
  'each operation of $area, tried in place',
  (area) => {
    let tab: Visit;
    let minted: Awaited<ReturnType<typeof mintOne>>;
    beforeAll(async () => {
      tab = await open();
      minted = await mintOne();
    });
    beforeEach(() => {
      tab.complaints.length = 0;
    });

    /** Puts the ids of the live world in the place of the examples', whatever the page offers by now. */
    async function fillLive(panel: Locator, things: Things): Promise<void> {
      const known = placeholders(contract, things, minted);
      for (const input of await panel.locator('form [data-in="path"], form [data-body]').all()) {
        const example: string = await input.evaluate((field: { defaultValue: string }) => field.defaultValue);
        await input.fill(
          known.reduce((text, [placeholder, own]) => text.replaceAll(placeholder, own), example),
        );
      }
    }

    test.each(area.operations.map((operation) => [operation.operationId, operation] as const))(
      'sends %s, and shows what the service answers',
      async (operationId, operation) => {
        const { page, complaints } = tab;
        const { status, key, body } = callOf(operation);
        const things = await makeThings(operationId === 'addAttendee' ? [] : [attendee]);
        const panel = await openForm(page, operation);
        expect(await panel.getByLabel('x-api-key').count()).toBe(key ? 1 : 0);
        if (key) await fillKey(panel);
        if (body !== undefined) {
          expect(JSON.parse(await panel.getByLabel('Body', { exact: false }).first().inputValue())).toEqual(
            body,
          );
        }
        await fillLive(panel, things);
        const answered = page.waitForResponse((response) => response.url().includes('/v1/api/'));
        expect(await send(page, panel, operation)).toBe(status);
        const answer = await answered;
        const shown = await panel.getByRole('region', { name: 'Body of the answer' }).textContent();
        const text = await answer.text();
        if (text === '') expect(shown).toBe('No body');
        else expect(JSON.parse(shown ?? '')).toEqual(JSON.parse(text));
        const id = (await answer.allHeaders())['x-request-id'] ?? 'none';
        expect(await panel.getByRole('cell', { name: id }).isVisible()).toBe(true);
        expect(await curlIn(panel)).not.toContain(inject('live').key);
        // The rest of the page is examined with the pages, and answers differ by method. The last areas are small.
        if (operation === operations.findLast(({ method }) => method === operation.method))
          expect(await faultsOf(page, panelOf(operationId))).toEqual([]);
        // The browser tells of every answer from 400 on.
        expect(complaints.filter((line) => !line.startsWith('Failed to load resource'))).toEqual([]);
      },
    );
  },
);

describe.skipIf(tools.chromium === undefined)('trying an operation in its reference', () => {
  const tab = usePage();

  test('shows the same call as curl, which does the same', async () => {
    const { page } = tab.visit;
    const operation = named('createEvent');
    const panel = await openForm(page, operation);
    await fillKey(panel);
    await panel.getByLabel('Body').fill(`{"name": "It's a \\"fair\\" at 5 €"}`);
    const answer = await runCurl(await curlIn(panel));
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
    expect(answer).toContain(`"name":"It's a \\"fair\\" at 5 €"`);
    // With the Idempotency-Key of the shown command the form gets the answer of the first.
    expect(await send(page, panel, operation)).toBe(201);
    expect(await panel.getByRole('row', { name: 'idempotency-replayed true' }).count()).toBe(1);
    // That call is done, and the next is another one.
    expect(await send(page, panel, operation)).toBe(201);
    expect(await panel.getByRole('row', { name: 'idempotency-replayed true' }).count()).toBe(0);
  });

  test('sends optional parameters only when they are given, each as the document writes it', async () => {
    const { page } = tab.visit;
    const operation = named('getWalletHistory');
    const panel = await openForm(page, operation);
    await fillKey(panel);
    await panel.locator('summary', { hasText: 'Optional parameters' }).click();
    await panel.getByLabel('order').selectOption('ASC');
    await panel.getByLabel('limit').fill('3');
    await panel.getByLabel('category').fill('send,receive');
    const asked = page.waitForRequest(/wallet\/history/);
    expect(await send(page, panel, operation)).toBe(200);
    const query = Object.fromEntries(new URL((await asked).url()).searchParams);
    expect(Object.keys(query).toSorted()).toEqual(['address', 'category', 'chainId', 'limit', 'order']);
    expect(query).toMatchObject({ order: 'ASC', limit: '3', category: 'send,receive' });
    expect(await runCurl(await curlIn(panel))).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('asks before it writes, and sends nothing after a no', async () => {
    const { page } = tab.visit;
    const operation = named('deleteEvent');
    const { eventId } = await makeThings([]);
    const panel = await openForm(page, operation);
    await fillKey(panel);
    await panel.getByLabel('eventId').fill(eventId);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.method()));
    await panel.getByRole('button', { name: 'Send', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Send a call that may change data?' });
    expect(await dialog.textContent()).toContain(`DELETE ${inject('live').baseUrl}`);
    expect(await faultsOf(page, 'dialog.ask')).toEqual([]);
    // The focus is on what does no harm.
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: 'Send', exact: true }).click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(sent).toEqual([]);
    expect((await ask('GET', `/events/v1/api/event/${eventId}`)).status).toBe(200);
    expect(await send(page, panel, operation)).toBe(204);
    expect((await ask('GET', `/events/v1/api/event/${eventId}`)).status).toBe(404);
  });

  test('asks no more in a tab where the reader does not want it', async () => {
    const { page } = tab.visit;
    const operation = named('createEvent');
    const panel = await openForm(page, operation);
    await fillKey(panel);
    await panel.getByRole('button', { name: 'Send', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Do not ask again in this tab').check();
    // Who cancels has decided nothing.
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await panel.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByLabel('Do not ask again in this tab').check();
    await dialog.getByRole('button', { name: 'Send it' }).click();
    const said = panel.getByRole('status').filter({ hasText: /^Answered 201 / });
    await said.waitFor();
    const other = named('deleteEvent');
    const deletion = await openForm(page, other);
    await deletion.getByRole('button', { name: 'Send', exact: true }).click();
    // Its form has the id of the event that was just made.
    await deletion
      .getByRole('status')
      .filter({ hasText: /^Answered 204 / })
      .waitFor();
    expect(await dialog.count()).toBe(0);
    const elsewhere = await page.context().newPage();
    const asked = await openForm(elsewhere, other);
    await asked.getByRole('button', { name: 'Send', exact: true }).click();
    await elsewhere.getByRole('dialog').waitFor();
  });

  test('offers the key of the sample, which works', async () => {
    const { page } = tab.visit;
    const operation = named('listEvents');
    const panel = await openForm(page, operation);
    expect(await panel.getByLabel('x-api-key').inputValue()).toBe('');
    await panel.getByRole('button', { name: 'Use the key of the sample' }).click();
    expect(await panel.getByLabel('x-api-key').inputValue()).toBe(inject('live').key);
    expect(await send(page, panel, operation)).toBe(200);
  });

  test('shows an error with the way to its page, and one that nobody answers in words', async () => {
    const { page } = tab.visit;
    const operation = named('getTokenBalance');
    const panel = await openForm(page, operation);
    await panel.getByLabel('x-api-key').fill('tk_local_nonsense');
    expect(await send(page, panel, operation)).toBe(401);
    await fillKey(panel);
    await panel.getByLabel('address', { exact: false }).first().fill('');
    expect(await send(page, panel, operation)).toBe(400);
    await page.route('**/token/balance*', (route) => route.abort());
    await panel.getByRole('button', { name: 'Send', exact: true }).click();
    await panel.getByText('No answer: ').waitFor();
    await page.unroute('**/token/balance*');
    await send(page, panel, operation);
    await panel.getByRole('link', { name: 'What address_required means' }).click();
    await page.waitForURL(/problems\/address_required\.html$/);
  });

  test('keeps the key in its tab: over pages and a reload, and nowhere else', async () => {
    const { page } = tab.visit;
    await fillKey(await openForm(page, named('listEvents')));
    const panel = await openForm(page, named('listRwas'));
    expect(await panel.getByLabel('x-api-key').inputValue()).toBe(inject('live').key);
    const stored = '[JSON.stringify(localStorage), document.cookie]';
    expect(JSON.stringify(await page.evaluate(stored))).not.toContain(inject('live').key);
    const other = await page.context().newPage();
    const again = await openForm(other, named('listRwas'));
    expect(await again.getByLabel('x-api-key').inputValue()).toBe('');
    await panel.getByLabel('x-api-key').fill('');
    expect(await page.evaluate(`sessionStorage.getItem('portal.key')`)).toBeNull();
  });

  test('offers the ids of things that were answered before', async () => {
    const { page } = tab.visit;
    await makeThings([]);
    const list = await openForm(page, named('listEvents'));
    await fillKey(list);
    await send(page, list, named('listEvents'));
    const { href, summary } = named('getEvent');
    await page.evaluate(`location.hash = ${JSON.stringify(href.slice(href.indexOf('#')))}`);
    await showOnly(page, 'getEvent');
    const panel = page.getByRole('region', { name: `Call: ${summary}`, exact: true });
    await panel.getByRole('button', { name: `Try it: ${summary}` }).click();
    // Other files make events meanwhile. Whichever is offered exists, and that of the example does not.
    expect(await send(page, panel, named('getEvent'))).toBe(200);
  });

  test('works with the keyboard alone, in dark on a phone too', async () => {
    const small = await open(phone);
    const { page } = small;
    const { href, summary } = named('listEndpoints');
    await visit(page, href);
    const panel = page.getByRole('region', { name: `Call: ${summary}`, exact: true });
    await panel.getByRole('button', { name: 'Try it' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.call [data-key]:focus');
    await page.keyboard.insertText(inject('live').key);
    await page.keyboard.press('Enter');
    await panel.getByRole('status').filter({ hasText: 'Answered 200' }).waitFor();
    await page.waitForSelector('.call button.send:focus');
    const faults = await faultsOf(page, panelOf('listEndpoints'));
    expect([faults, await overhang(page), small.complaints]).toEqual([[], 0, []]);
    await page.context().close();
  });

  test('can ask no other host and run no code of others', async () => {
    const { page } = tab.visit;
    await visit(page, named('listEvents').href);
    const broken: unknown = await page.evaluate(`new Promise((resolve) => {
      const seen = [];
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        seen.push(effectiveDirective);
        if (seen.length === 3) resolve(seen.toSorted());
      });
      fetch('http://foreign.invalid/').catch(() => {});
      document.head.append(Object.assign(document.createElement('script'), { src: 'http://foreign.invalid/x.js' }));
      document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = true' }));
    })`);
    expect(broken).toEqual(['connect-src', 'script-src-elem', 'script-src-elem']);
    expect(await page.evaluate('window.ran')).toBeUndefined();
  });
});
