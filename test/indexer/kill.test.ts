import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { compareBlock } from '../../src/providers/indexer/store/verify/verify-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { moduleCache } from '../support/process.ts';
import { decodeRecorded, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { createTestIndex, dumpIndex } from './index-fixture.ts';

const names = [17_686_111, 17_686_112, 17_686_113, 17_686_114, 17_686_115].map(
  (number) => `ethereum/${number}`,
);
const recorded = names.map((name) => readFixture<RecordedBlock>(name));
const startBlock = 17_686_111n;
const program = fileURLToPath(new URL('follower-process.ts', import.meta.url));
let node: ReplayNode;

beforeAll(async () => {
  node = await startReplayNode('1', recorded);
  node.setHead(recorded.at(-1)?.block.hash ?? '');
});

afterAll(() => node.close());

/** Runs the process; kills it when it has asked the node this many times. @returns whether it came to its end */
async function runUntil(database: TestDatabase, questions: number): Promise<boolean> {
  const child = spawn(process.execPath, [program, node.url, database.url, '1', String(startBlock)], {
    env: { ...process.env, ...moduleCache },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const before = node.asked.length;
  node.setFlaws(() => {
    if (node.asked.length - before >= questions) child.kill('SIGKILL');
    return undefined;
  });
  const chunks: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  return chunks.join('').includes('done');
}

describe('an indexer that is killed again and again', () => {
  test('ends with the rows of one that was left alone', async ({ database, otherDatabase }) => {
    const outcomes: boolean[] = [];
    for (const questions of [4, 9, 11, 13]) outcomes.push(await runUntil(database, questions));
    outcomes.push(await runUntil(database, Number.POSITIVE_INFINITY));
    expect(outcomes.at(-1)).toBe(true);
    expect(outcomes).toContain(false);
    node.setFlaws();
    const index = createTestIndex(otherDatabase, node.url, {
      chainId: '1',
      startBlock,
      traceMethod: 'debug',
    });
    await index.follow();
    index.close();
    expect(await dumpIndex(database, '1')).toEqual(await dumpIndex(otherDatabase, '1'));
  });
});

describe('verifying a block', () => {
  test('finds nothing where all is right, and every row that is wrong or missing', async ({
    otherDatabase,
  }) => {
    const block = decodeRecorded('ethereum/17686113');
    const plain = { ...block, transactions: block.transactions.map(withoutWraps) };
    expect(await compareBlock(otherDatabase.db, '1', plain)).toEqual([]);

    const rows = () =>
      otherDatabase.db('wallet_history').where({ chain_id: '1', block_number: '17686113', tx_index: 5 });
    const [first, second] = await rows().orderBy('wallet').select('wallet');
    await rows().where('wallet', first.wallet).update({ moves: '{}' });
    await rows().where('wallet', second.wallet).delete();
    const name = (row: { wallet: Buffer }) => `0x${row.wallet.toString('hex')}`;
    const found = (await compareBlock(otherDatabase.db, '1', plain)).map(
      ({ table, row, kind }) => `${table} ${row} ${kind}`,
    );
    expect(found.sort()).toEqual(
      [
        `wallet_history wallet=${name(first)} tx_index=5 other`,
        `wallet_history wallet=${name(second)} tx_index=5 missing`,
      ].sort(),
    );
  });
});

// The index of this test knows no wrapped token.
function withoutWraps(transaction: ReturnType<typeof decodeRecorded>['transactions'][number]) {
  return { ...transaction, erc20: transaction.erc20.filter(({ kind }) => kind !== 'wrap') };
}
