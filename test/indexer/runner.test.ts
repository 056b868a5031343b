import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { startGate } from '../keys/tcp-gate.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { type ReplayNode, readReorganisation, startReplayNode } from '../support/node/replay.ts';
import { createTestIndex, dumpIndex, emptyIndex, runIndex } from './index-fixture.ts';

const { blocks } = readReorganisation('reorg-13522937-13522962');
const startBlock = 13_522_955n; // a stretch without reorganisation but at 13522959
const canonical = blocks.filter(({ block }) => BigInt(block.number) >= startBlock);
const hashAt = (number: bigint) => {
  const last = canonical.find(({ block }) => BigInt(block.number) === 13_522_962n);
  let entry = last;
  while (entry !== undefined && BigInt(entry.block.number) !== number) {
    const parent: string = entry.block.parentHash;
    entry = canonical.find(({ block }) => block.hash === parent);
  }
  return entry?.block.hash ?? '';
};
let node: ReplayNode;

beforeAll(async () => {
  node = await startReplayNode('137', canonical);
});

afterAll(async () => {
  await node.close();
});

const log = createLogger({ level: 'silent' });
const leaseSeconds = 1;

/** Runs an indexer of its own, which comes to the database by this URL; `leads` resolves when it has the network. */
function startIndexer(database: TestDatabase, url: string) {
  const chainId = '137';
  const db = createDatabase(url, { poolMax: 3, log });
  const index = createTestIndex({ ...database, db }, node.url, { chainId, startBlock });
  const leading = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  const end = runIndex(index.follower, {
    chainId,
    db,
    leaseSeconds,
    onLeading: (leads) => (leads ? leading : lost).resolve(),
  });
  return {
    leads: leading.promise,
    losesIt: lost.promise,
    async stop() {
      await end();
      index.close();
      await db.destroy();
    },
  };
}

const headIs = (database: TestDatabase, number: bigint) => async () => {
  const row = await database.db('index_state').where('chain_id', '137').first('head_number');
  expect(row?.head_number).toBe(String(number));
};

describe('two indexers of one network', () => {
  test('do not work at once; the other takes over when the network has swallowed the first', async ({
    database,
  }) => {
    const gate = await startGate(database.url);
    node.setHead(hashAt(13_522_957n));
    const first = startIndexer(database, gate.through(database.url));
    await first.leads;
    let secondLeads = false;
    const second = startIndexer(database, database.url);
    void second.leads.then(() => {
      secondLeads = true;
    });
    await vi.waitFor(headIs(database, 13_522_957n), { timeout: 10_000 });
    const renewals = new Set<string>();
    // The first holds the network for longer than its lease, since it renews it.
    await vi.waitFor(
      async () => {
        renewals.add((await database.db('leases').first('expires_at')).expires_at.toISOString());
        expect(renewals.size).toBeGreaterThan(5);
      },
      { timeout: 10_000 },
    );
    expect(secondLeads).toBe(false);

    node.setHead(hashAt(13_522_962n));
    gate.freeze();
    await second.leads;
    await vi.waitFor(headIs(database, 13_522_962n), { timeout: 10_000 });
    // What the first had sent comes through, too late.
    gate.open();
    await first.losesIt;
    await Promise.all([first.stop(), second.stop()]);
    const state = await database.db('index_state').where('chain_id', '137').first();
    expect(`0x${state.head_hash.toString('hex')}`).toBe(hashAt(13_522_962n));
    await gate.close();
  });

  test('lose nothing and double nothing even if both should write', async ({ database }) => {
    const indexes = [0, 1].map(() =>
      createTestIndex(database, node.url, { chainId: '137', startBlock, maxBatch: 1 }),
    );
    await emptyIndex(database);
    const outcomes = await Promise.allSettled(indexes.map((index) => index.follow()));
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason.name] : [],
    );
    expect(refused.every((name) => name === 'IndexMovedError' || name === 'error')).toBe(true);
    for (const index of indexes) await index.follow();
    const both = await dumpIndex(database, '137');
    await emptyIndex(database);
    const alone = createTestIndex(database, node.url, { chainId: '137', startBlock });
    await alone.follow();
    expect(both).toEqual(await dumpIndex(database, '137'));
    for (const index of [alone, ...indexes]) index.close();
  });
});

test('an index that is up to date asks the node again and again, but the database nothing', async ({
  database,
}) => {
  node.setHead(hashAt(13_522_962n));
  const { follower, follow, close } = createTestIndex(database, node.url, { chainId: '137', startBlock });
  await follow();
  const statements: string[] = [];
  database.db.on('query', ({ sql }) => statements.push(sql));
  const asked = node.asked.length;
  for (let looks = 0; looks < 20; looks += 1) expect(await follower.step()).toBe('idle');
  expect(node.asked.length).toBeGreaterThanOrEqual(asked + 20);
  expect(statements).toEqual([]);
  close();
});

test('an index that fails is tried again within 5 s, however slow its chain', async ({ database }) => {
  const told = Promise.withResolvers<{ pauseMs: number }>();
  const write = (line: string) => line.includes('pauseMs') && told.resolve(JSON.parse(line));
  const follower = { step: () => Promise.reject(new Error('no node')), blockedAt: () => undefined };
  const log = createLogger({ level: 'warn', destination: { write } });
  const end = runIndex(follower, { chainId: '138', db: database.db, pollMs: 60_000, log });
  expect((await told.promise).pauseMs).toBe(5_000);
  await end();
});
