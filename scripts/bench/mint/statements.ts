import { setTimeout as pause } from 'node:timers/promises';
import { startUnpinned } from '../start-service.ts';
import { type BenchChain, confirmations } from './bench-chain.ts';
import { serviceRole } from './bench-postgres.ts';
import type { BenchSetup } from './bench-setup.ts';
import { untilMinted } from './minted.ts';

export type Statements = {
  readonly nfts: number;
  readonly transactions: number;
  readonly statements: number;
  readonly perNft: number;
};

type Options = {
  readonly setup: BenchSetup;
  readonly chain: BenchChain;
  readonly settings: Readonly<Record<string, string>>;
};

/**
 * Statements that a worker process sends for NFTs that are queued already, by the server's own count: from
 * its first connection until all are minted and final, the queue's own and BEGIN and COMMIT included.
 */
export async function measureStatements({ setup, chain, settings }: Options): Promise<Statements> {
  const { db } = setup;
  const queued = await count(db, "SELECT count(*) FROM nfts WHERE mint_state = 'queued'");
  await db.raw('SELECT pg_stat_statements_reset()');
  const worker = await startUnpinned({ ...settings, ROLES: 'worker' });
  try {
    await untilMinted(db, queued, 120);
    // So many blocks at once make everything final.
    await chain.rpc.call('anvil_mine', `0x${(64 + confirmations).toString(16)}`);
    const deadline = performance.now() + 30_000;
    while ((await count(db, "SELECT count(*) FROM mint_transactions WHERE state <> 'finalized'")) > 0) {
      if (performance.now() > deadline) throw new Error('The mints did not become final.');
      await pause(50);
    }
  } finally {
    await worker.stop();
  }
  const statements = await count(
    db,
    `SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE userid = '${serviceRole}'::regrole`,
  );
  const transactions = await count(db, 'SELECT count(*) FROM mint_transactions');
  return { nfts: queued, transactions, statements, perNft: Number((statements / queued).toFixed(3)) };
}

async function count(db: BenchSetup['db'], sql: string): Promise<number> {
  const { rows } = await db.raw(sql);
  return Number(Object.values(rows[0] ?? {})[0]);
}
