import { describe, expect, vi } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { bytes, copyLines, lineOf } from '../../src/providers/indexer/store/rows/bulk-store.ts';
import { historyTables } from '../../src/providers/indexer/store/rows/history-rows.ts';
import { test } from '../support/fixtures.ts';
import { createTestFollower } from './index-fixture.ts';
import { createModelChain } from './model-chain.ts';

const chainId = '8118';
const maxBatch = 2;

describe('while blocks are written', () => {
  test('the batch behind them is read, and no more', async ({ database }) => {
    const chain = createModelChain();
    for (let block = 0; block < 12; block += 1) chain.mine([]);
    const asked: bigint[] = [];
    const follower = createTestFollower({
      chainId,
      maxBatch,
      db: database.db,
      blocks: {
        ...chain.node,
        blockAt(number) {
          asked.push(number);
          return chain.node.blockAt(number);
        },
      },
      parallel: 8,
    });
    expect(await follower.step()).toBe('advanced');
    const written = await database.db.transaction(async (tx) => {
      // Whoever adds blocks changes this row first, and waits.
      await tx('index_state').where('chain_id', chainId).forUpdate().select();
      const step = follower.step();
      // Blocks 2 and 3 are being written.
      await vi.waitFor(() => expect(asked).toContain(5n), { timeout: 10_000 });
      return { step };
    });
    expect(asked).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    expect(await written.step).toBe('advanced');
  });
});

describe('rows that are too many for one piece', () => {
  const wallet = `0x${'ab'.repeat(20)}`;
  const count = 100_000;
  const countFacets = async (db: Database) => {
    const { rows } = await db.raw(
      `SELECT count(*), max(tx_index), bool_and(wallet = ?::bytea AND kind = 1 AND facet = ?::bytea) AS whole
       FROM history_facets WHERE chain_id = ? AND block_number = 7`,
      [bytes(wallet), `\\x${'cd'.repeat(11)}`, chainId],
    );
    return rows;
  };
  const all = [{ count: String(count), max: count - 1, whole: true }];

  test('all arrive, in their order', async ({ database }) => {
    const [of, facet] = [`\\${bytes(wallet)}`, `\\\\x${'cd'.repeat(11)}`];
    // Each has some 90 bytes, and a piece 4 MiB.
    const lines = Array.from(
      { length: count },
      (_, index) => `${lineOf([chainId, of, '7', String(index), facet, '1'])}\n`,
    );
    const { history_facets: columns } = historyTables;
    await database.db.transaction((tx) => copyLines(tx, 'history_facets', columns, lines));
    expect(await countFacets(database.db)).toEqual(all);
  });
});
