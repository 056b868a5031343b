import { describe, expect } from 'vitest';
import { wantedFacets } from '../../src/providers/indexer/classify/facets.ts';
import { kindNumber } from '../../src/providers/indexer/classify/kinds.ts';
import { approvalQuery } from '../../src/providers/indexer/read/approval-page-store.ts';
import { blockAtQuery, historyQuery } from '../../src/providers/indexer/read/history-page-store.ts';
import { pastQuery } from '../../src/providers/indexer/read/holding-queries.ts';
import { sumsQuery } from '../../src/providers/indexer/read/reconciliation-store.ts';
import { seenQuery } from '../../src/providers/indexer/read/seen-store.ts';
import { tokenQuery } from '../../src/providers/indexer/read/token-page-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { insertIndexHead } from '../support/index-head.ts';
import { holdingPlace, pageQueries, question, wallet } from './page-queries.ts';

const parted = [
  ...['wallet_history', 'history_facets', 'nft_changes', 'nft_holdings'],
  ...['block_credits', 'native_sums', 'approval_changes', 'wallet_approvals'],
];

/** The tables of wallets as an operator would part them, by wallet, into eight. */
test.beforeAll(async ({ database }) => {
  const { db } = database;
  for (const table of parted) {
    await db.raw(`ALTER TABLE ${table} RENAME TO whole_${table}`);
    await db.raw(`CREATE TABLE ${table} (LIKE whole_${table} INCLUDING ALL) PARTITION BY HASH (wallet)`);
    for (let part = 0; part < 8; part += 1) {
      await db.raw(
        `CREATE TABLE ${table}_${part} PARTITION OF ${table} FOR VALUES WITH (MODULUS 8, REMAINDER ${part})`,
      );
    }
  }
  await insertIndexHead(db, { chain_id: '1' });
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

// A cluster parts the tables in its own way: citus.test.ts.
describe.skipIf(process.env['CITUS_URL'] !== undefined)('a page query', () => {
  test.for(pageQueries)('%s touches one part of each table', async ([_name, query], { database }) => {
    const relations = new Set((await scanned(database, query)).map((plan) => plan['Relation Name']));
    const tables = [...relations]
      .filter((name) => name !== undefined && name !== 'halves')
      .map((name) => name?.replace(/_\d$/, ''));
    expect(tables.length).toBeGreaterThan(0);
    expect(new Set(tables).size).toBe(tables.length);
  });
});

/** Reads a page with the search and tells its plan, and how many pages of the database it looked at. */
async function explained({ db }: TestDatabase, query: { sql: string; bindings: object }) {
  const { rows } = await db.raw(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT TEXT) ${query.sql}`,
    query.bindings as never, // named, as the query has them
  );
  const text = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  const [, hit = '0', read = '0'] = /Buffers: shared hit=(\d+)(?: read=(\d+))?/.exec(text) ?? [];
  return { text, buffers: Number(hit) + Number(read) };
}

describe('a page of a history of 300,000 rows', () => {
  const token = `0x${'cd'.repeat(20)}`;
  const rare = kindNumber({ category: 'borrow', isSpam: false, directions: 1 });
  const usual = kindNumber({ category: 'send', isSpam: false, directions: 1 });

  test.beforeAll(async ({ database }) => {
    const { db } = database;
    await db.raw(
      `INSERT INTO wallet_history SELECT 1, ?::bytea, n / 3, n % 3, '\\x00', '\\x00', to_timestamp(n / 3 * 12), '[]',
         NULL, CASE WHEN n % 1000 = 0 THEN ?::int ELSE ?::int END FROM generate_series(1, 300000) n`,
      [`\\x${'ab'.repeat(20)}`, rare, usual],
    );
    const facets = [wantedFacets({ token: [token] }), wantedFacets({ token: [token], counterparty: wallet })];
    for (const [facet] of facets.map((each) => each ?? [])) {
      await db.raw(
        `INSERT INTO history_facets SELECT 1, ?::bytea, ?::bytea, ?, n / 3, n % 3 FROM generate_series(1, 300000) n
         WHERE n % 1000 = 0`,
        [`\\x${'ab'.repeat(20)}`, facet ?? '', rare],
      );
    }
    await db.raw('ANALYZE wallet_history');
    await db.raw('ANALYZE history_facets');
  });

  const depths = [undefined, { blockNumber: 50_000n, index: 1 }];

  test('is read from the primary key at any depth, without sorting or skipping', async ({ database }) => {
    for (const after of depths) {
      const { text, buffers } = await explained(database, historyQuery({ ...question, after }));
      expect(text).toMatch(/Index Scan Backward using wallet_history_\d_pkey/);
      expect(text).not.toMatch(/Rows Removed by Filter/);
      expect(buffers).toBeLessThan(50);
    }
  });

  test.for([
    ['a kind', { category: ['borrow'] }, /using wallet_history_\d\w*kind\w*_idx/],
    ['kinds by what they are not', { direction: 'send', category: ['borrow', 'mint', 'burn'] }, /_kind_/],
    ['a token', { token: [token] }, /using history_facets_\d_pkey/],
    ['a token of somebody', { token: [token], counterparty: wallet }, /using history_facets_\d_pkey/],
  ] as const)(
    'that is searched by %s reads what it shows and little besides, at any depth',
    async ([_name, search, index], { database }) => {
      for (const after of depths) {
        const { text, buffers } = await explained(database, historyQuery({ ...question, after, search }));
        expect(text).toMatch(index);
        expect(text).not.toMatch(/Seq Scan|Rows Removed by Filter: [1-9]\d\d/);
        // Each of 101 rows, from its key down, and a look at each of at most 144 kinds.
        expect(buffers).toBeLessThan(1_300);
      }
    },
  );

  test('with credits, or of credits alone, reads what it shows and little besides', async ({ database }) => {
    const { db } = database;
    await db.raw(
      `INSERT INTO block_credits SELECT 1, ?::bytea, 1 + (n % 1000 > 0)::int, n, 0, '\\x00', to_timestamp(n * 12), 5
         FROM generate_series(1, 100000) n`,
      [`\\x${'ab'.repeat(20)}`],
    );
    await db.raw('ANALYZE block_credits');
    for (const entries of [['withdrawals'], ['transactions', 'withdrawals', 'rewards']] as const) {
      for (const after of depths) {
        const query = historyQuery({ ...question, after, search: { entries } });
        const { text, buffers } = await explained(database, query);
        expect(text).toMatch(/using block_credits_\d_pkey/);
        expect(text).not.toMatch(/Seq Scan|Rows Removed by Filter: [1-9]\d\d/);
        expect(buffers).toBeLessThan(600);
      }
    }
  });

  test('and what is summed up of it is found at once, as are both of its ends', async ({ database }) => {
    const { db } = database;
    await db.raw(
      `INSERT INTO native_sums SELECT 1, decode(lpad(to_hex(n), 40, '0'), 'hex'), 1, 1, 0, 0, 0
         FROM generate_series(1, 100000) n`,
    );
    await db.raw('UPDATE index_state SET ledger_from = 0, ledger_head = head_hash');
    await db.raw('ANALYZE native_sums');
    const sums = await explained(database, sumsQuery('1', wallet, undefined));
    expect(sums.text).toMatch(/using native_sums_\d_pkey/);
    expect(sums.buffers).toBeLessThan(20);
    const past = await explained(database, sumsQuery('1', wallet, 99_990n));
    expect(past.text).toMatch(/using wallet_history_\d_pkey/);
    expect(past.text).not.toMatch(/Seq Scan on (wallet|block)_/);
    expect(past.buffers).toBeLessThan(200);
    const seen = await explained(database, seenQuery(['1', '2'], wallet));
    expect(seen.text).not.toMatch(/Seq Scan/);
    expect(seen.buffers).toBeLessThan(150);
  });

  test('is known by its tokens without reading it', async ({ database }) => {
    const { db } = database;
    // Of 300 tokens the second half is known from spam alone.
    const spam = kindNumber({ category: 'token receive', isSpam: true, directions: 2 });
    await db.raw(
      `INSERT INTO history_facets SELECT 1, ?::bytea, decode('02' || lpad(to_hex(n % 300), 20, '0'), 'hex'),
         CASE WHEN n % 300 < 150 THEN ?::int ELSE ?::int END, n / 3, n % 3 FROM generate_series(1, 300000) n`,
      [`\\x${'ab'.repeat(20)}`, usual, spam],
    );
    await db.raw('ANALYZE history_facets');
    for (const after of [undefined, `02${'95'.padStart(20, '0')}`]) {
      const query = tokenQuery({ chainId: '1', wallet, limit: 101, after });
      const { text, buffers } = await explained(database, query);
      expect(text).toMatch(/using history_facets_\d_pkey/);
      expect(text).not.toMatch(/Seq Scan on (wallet|history)_|Rows Removed by Filter: [1-9]\d\d/);
      // 101 jumps and rows, and for spam a look at each of 72 kinds.
      expect(buffers).toBeLessThan(after === undefined ? 3_000 : 40_000);
    }
  });

  test('has its live approvals in order', async ({ database }) => {
    const { db } = database;
    await db.raw(
      `INSERT INTO wallet_approvals SELECT 1, ?::bytea, decode(lpad(to_hex(n / 10), 40, '0'), 'hex'), 1, 0,
         decode(lpad(to_hex(n), 40, '0'), 'hex'), '\\x00', 5, n % 1000 = 0, n, 0 FROM generate_series(1, 300000) n`,
      [`\\x${'ab'.repeat(20)}`],
    );
    await db.raw('ANALYZE wallet_approvals');
    const after = {
      contract: `0x${'2710'.padStart(40, '0')}`,
      kind: 'amount',
      tokenId: 0n,
      party: wallet,
    } as const;
    for (const place of [undefined, after]) {
      const { text, buffers } = await explained(
        database,
        approvalQuery({ chainId: '1', wallet, limit: 101, after: place }),
      );
      expect(text).toMatch(/using wallet_approvals_\d\w*_idx/);
      expect(text).not.toMatch(/Seq Scan on wallet_|Rows Removed by Filter: [1-9]/);
      // And for each approval a look at the row of its block, which says whether the owner signed it.
      expect(buffers).toBeLessThan(300 + 101 * 4);
    }
  });

  test('is found by its date with some looks at the primary key', async ({ database }) => {
    await database.db.raw('UPDATE index_state SET head_number = 100000');
    const { text, buffers } = await explained(database, blockAtQuery('1', wallet, new Date(600_000_000)));
    expect(text).toMatch(/using wallet_history_\d_pkey/);
    expect(buffers).toBeLessThan(150);
    const { sql, bindings } = blockAtQuery('1', wallet, new Date(600_000_000));
    const { rows } = await database.db.raw<{ rows: [{ block: string }] }>(sql, bindings);
    expect(rows[0].block).toBe('50000');
  });
});

describe('a list of NFTs as of before 300,000 changes', () => {
  test.beforeAll(async ({ database }) => {
    const { db } = database;
    // Each of 150,000 tokens comes and goes again, but for one in a thousand.
    await db.raw(
      `INSERT INTO nft_changes SELECT 1, ?::bytea, sha256((n % 7)::text::bytea), n, b.block, 0, 0, 721, b.delta, b.delta > 0
       FROM generate_series(1, 150000) n CROSS JOIN LATERAL (VALUES (n, 1), (n + 150000, -1)) b (block, delta)
       WHERE b.delta > 0 OR n % 1000 > 0`,
      [`\\x${'ab'.repeat(20)}`],
    );
    await db.raw('ANALYZE nft_changes');
  });

  test('looks at no more than a page may, at any depth', async ({ database }) => {
    for (const after of [undefined, { ...holdingPlace, acquired: { blockNumber: 40_000n, logIndex: 0 } }]) {
      for (const asOf of [149_000n, 300_000n]) {
        const { text, buffers } = await explained(database, pastQuery({ ...question, asOf, after }, 500));
        expect(text).toMatch(/using nft_changes_\d\w*gains\w*|using nft_changes_\d_\w*idx/);
        expect(text).not.toMatch(/Seq Scan on nft|Rows Removed by Filter: [1-9]\d\d\d/);
        expect(buffers).toBeLessThan(500 * 16);
      }
    }
  });
});
