import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { historyCsv } from '../../src/blockchain/history-csv.ts';
import type { DataProvider, HistoryRecord } from '../../src/providers/shared/provider.ts';
import { testNetwork } from '../support/networks.ts';
import { walk } from '../support/walk.ts';
import { startIndexedLists } from './indexed-wallet-lists.ts';
import { type HostedListSetup, type ListSetup, startHostedLists } from './wallet-lists.ts';

const path = '/blockchain/v1/api/wallet/history';
let indexed: ListSetup;
let hosted: HostedListSetup;
beforeAll(async () => {
  indexed = await startIndexedLists(path);
  hosted = await startHostedLists(path);
});
afterAll(async () => {
  await indexed.close();
  await hosted.close();
});

type Query = Readonly<Record<string, string>>;
const csv = (setup: ListSetup, query: Query = {}, accept = 'text/csv') =>
  setup.get({ address: setup.busy, ...query }).set('accept', accept);
const linesOf = (text: string): Record<string, string>[] => parse(text, { columns: true });

async function records(setup: ListSetup, query: Query): Promise<HistoryRecord[]> {
  const pages = await walk(async (cursor) => {
    const asked = { address: setup.busy, ...query, ...(cursor && { cursor }) };
    const { history } = (await setup.get(asked).expect(200)).body;
    return { next: history.cursor, result: history.result };
  });
  return pages.flatMap(({ result }) => result);
}

/** The file of a provider whose pages these are. @param order of the file */
async function fileOf(
  history: () => Promise<{ records: object[]; next: string | undefined }>,
  order: 'ASC' | 'DESC' = 'ASC',
) {
  const provider = { history } as unknown as DataProvider; // what is asked of it
  const question = { network: testNetwork([]), address: indexed.busy, order, limit: 1 } as const;
  return (await historyCsv(provider, { ...question, position: undefined })).body;
}

/** A record in the texts of the file. */
const asLine = (record: HistoryRecord, names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => {
      const value: unknown = Reflect.get(record, name);
      const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      return [name, String(text ?? '')];
    }),
  );

describe('200: a history as CSV', () => {
  test.each([
    {},
    { order: 'ASC', fromBlock: '12', toBlock: '90' },
    { category: 'mint', direction: 'receive' },
  ])('has the records of the same query, of all its pages: %j', async (query) => {
    const answer = await csv(indexed, query).expect(200).expect('content-type', 'text/csv; charset=utf-8');
    const lines = linesOf(answer.text);
    const expected = await records(indexed, query);
    expect(lines.length).toBeGreaterThan(70);
    expect(lines).toEqual(expected.map((record) => asLine(record, Object.keys(lines[0] ?? {}))));
    expect(Object.keys(lines[0] ?? {})).toEqual(
      expect.arrayContaining([...Object.keys(expected[0] ?? {}), 'created_contract']),
    );
    expect(answer.headers['x-index-block-number']).toMatch(/^\d+$/);
  });

  test('comes from the hosted provider too, and begins at a cursor', async () => {
    const all = linesOf((await csv(hosted).expect(200)).text);
    const { cursor } = (await hosted.get({ address: hosted.busy, limit: '50' }).expect(200)).body.history;
    const rest = linesOf((await csv(hosted, { cursor }).expect(200)).text);
    expect(all).toHaveLength(120);
    expect(rest.map(({ hash }) => hash)).toEqual(all.slice(50).map(({ hash }) => hash));
  });

  test.each(['application/json, text/csv;q=0.5', '*/*', 'text/html'])(
    'is JSON for Accept: %s',
    async (accept) => {
      const { body } = await csv(indexed, { limit: '1' }, accept).expect(200);
      expect(body.history.page_size).toBe(1);
    },
  );
});

describe('a history as CSV that fails', () => {
  // Before the other: failures that last open the circuit breaker of the provider, and nothing would be sent.
  test('later is cut, so that no part looks like the whole', async () => {
    hosted.server.meet('none', 404);
    await expect(csv(hosted)).rejects.toThrow(/aborted|socket hang up|terminated/);
    hosted.forget();
  });

  test('502: is a problem when nothing was sent yet', async () => {
    hosted.server.meet(500);
    const { body } = await csv(hosted)
      .expect(502)
      .expect('content-type', /problem\+json/);
    expect(body.code).toBe('history_unavailable');
    hosted.forget();
  });
});

test('a page of any size goes in pieces of 64 kB, none of which splits a character, and is counted', async () => {
  const [record] = await records(indexed, { limit: '1', fromBlock: '50' });
  const page = Array.from({ length: 20 }, () => ({ ...record, summary: 'a😀'.repeat(100_001) }));
  let asked = 0;
  const body = await fileOf(async () => {
    asked += 1;
    return { records: page.slice(0, asked), next: asked === 2 ? undefined : 'next' };
  });
  const firstBytes = body.heldBytes;
  expect(firstBytes).toBeGreaterThan(300_000);
  const pieces: string[] = [];
  for await (const piece of body.pieces) pieces.push(piece);
  expect(body.heldBytes).toBeGreaterThan(1.9 * firstBytes);
  expect(pieces.every((piece) => piece.length <= 64 * 1024 && piece.isWellFormed())).toBe(true);
  expect(linesOf(pieces.join('')).map(({ summary }) => summary?.length)).toEqual([300_003, 300_003, 300_003]);
});

test.each([
  ['lead in a circle', (asked: number) => (asked % 2 === 0 ? ['60', '59'] : ['80', '79'])],
  ['have nothing, and others behind them', () => []],
  ['have the same again', () => ['60']],
] as const)('a file of pages that %s has an end', async (_what, blocksOf) => {
  const [record] = await records(indexed, { limit: '1', fromBlock: '50' });
  let asked = 0;
  const body = await fileOf(async () => {
    asked += 1;
    const records = blocksOf(asked).map((block) => ({ ...record, block_number: block }));
    return { records, next: `next ${asked}` };
  }, 'DESC');
  await expect(async () => {
    for await (const _ of body.pieces);
  }).rejects.toThrow(/page/);
  expect(asked).toBeLessThan(1_100);
});

describe('a text of the file', () => {
  test('is quoted where it needs it, and is no formula of a spreadsheet', async () => {
    const [record] = await records(indexed, { limit: '1', fromBlock: '50' });
    const odd = { ...record, summary: '=HYPERLINK("x")', method_label: 'a,"b"\r\nc', gas: null };
    const body = await fileOf(async () => ({ records: [odd], next: undefined }));
    let text = '';
    for await (const piece of body.pieces) text += piece;
    const [line] = linesOf(text);
    expect(line).toMatchObject({ summary: `'=HYPERLINK("x")`, method_label: 'a,"b"\r\nc', gas: '' });
  });
});
