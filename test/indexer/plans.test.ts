import { describe, expect } from 'vitest';
import { historyQuery } from '../../src/providers/indexer/read/history-store.ts';
import { holdingQuery } from '../../src/providers/indexer/read/holding-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';

const wallet = `0x${'ab'.repeat(20)}`;

/** The three tables as an operator would part them, by wallet, into eight. */
test.beforeAll(async ({ database }) => {
  const { db } = database;
  for (const table of ['wallet_history', 'nft_changes', 'nft_holdings']) {
    await db.raw(`ALTER TABLE ${table} RENAME TO whole_${table}`);
    await db.raw(`CREATE TABLE ${table} (LIKE whole_${table} INCLUDING ALL) PARTITION BY HASH (wallet)`);
    for (let part = 0; part < 8; part += 1) {
      await db.raw(
        `CREATE TABLE ${table}_${part} PARTITION OF ${table} FOR VALUES WITH (MODULUS 8, REMAINDER ${part})`,
      );
    }
  }
  await db.raw(`INSERT INTO index_state (chain_id, start_block, head_number, head_hash, head_time)
    VALUES (1, 0, 9, '\\x00', now())`);
});

type Plan = {
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Plan[];
};

async function scanned(
  database: TestDatabase,
  { sql, bindings }: { sql: string; bindings: object },
): Promise<Plan[]> {
  const { rows } = await database.db.raw<{ rows: [{ 'QUERY PLAN': [{ Plan: Plan }] }] }>(
    `EXPLAIN (FORMAT JSON) ${sql}`,
    bindings as never, // positional or named, as the query has them
  );
  const scans = (plan: Plan): Plan[] => [
    ...(plan['Relation Name'] === undefined || plan['Relation Name'] === 'index_state' ? [] : [plan]),
    ...(plan.Plans ?? []).flatMap(scans),
  ];
  return scans(rows[0]['QUERY PLAN'][0].Plan);
}

const question = { chainId: '1', wallet, order: 'DESC', limit: 101 } as const;
const acquired = { blockNumber: 5n, logIndex: 2 };
const holdingPlace = { acquired, contract: wallet, tokenId: 7n };

// A cluster parts the tables in its own way: citus.test.ts.
describe.skipIf(process.env['CITUS_URL'] !== undefined)('a page query', () => {
  const queries = [
    ['of a history', historyQuery({ ...question, after: undefined })],
    ['of a history, further down', historyQuery({ ...question, after: { blockNumber: 5n, index: 1 } })],
    ['of NFTs', holdingQuery({ ...question, asOf: undefined, after: undefined })],
    ['of NFTs, further down', holdingQuery({ ...question, asOf: 8n, after: holdingPlace })],
  ] as const;

  test.for(queries)('%s touches one part of each table', async ([_name, query], { database }) => {
    const relations = new Set((await scanned(database, query)).map((plan) => plan['Relation Name']));
    const tables = [...relations].map((name) => name?.replace(/_\d$/, ''));
    expect(tables.length).toBeGreaterThan(0);
    expect(new Set(tables).size).toBe(tables.length);
  });
});

describe('a page of a history of 300,000 rows', () => {
  test('is read from the primary key at any depth, without sorting or skipping', async ({ database }) => {
    const { db } = database;
    await db.raw(
      `INSERT INTO wallet_history SELECT 1, ?::bytea, n / 3, n % 3, '\\x00', '\\x00', now(), '[]', NULL
       FROM generate_series(1, 300000) n`,
      [`\\x${'ab'.repeat(20)}`],
    );
    await db.raw('ANALYZE wallet_history');
    for (const after of [undefined, { blockNumber: 50_000n, index: 1 }]) {
      const { sql, bindings } = historyQuery({ ...question, after });
      const { rows } = await db.raw(`EXPLAIN (ANALYZE, BUFFERS, FORMAT TEXT) ${sql}`, bindings);
      const text = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
      expect(text).toMatch(/Index Scan Backward using wallet_history_\d_pkey/);
      expect(text).not.toMatch(/Rows Removed by Filter/);
      const [, hit = '0', read = '0'] = /Buffers: shared hit=(\d+)(?: read=(\d+))?/.exec(text) ?? [];
      expect(Number(hit) + Number(read)).toBeLessThan(50);
    }
  });
});
