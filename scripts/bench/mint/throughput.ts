import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../../src/contract/transaction.ts';
import { startUnpinned } from '../start-service.ts';
import { type BenchChain, confirmations } from './bench-chain.ts';
import type { BenchSetup } from './bench-setup.ts';
import { postAll } from './post-all.ts';

export type Minting = {
  readonly nfts: number;
  readonly seconds: number;
  readonly nftsPerSecond: number;
  /** Until the last request was answered. */
  readonly acceptedSeconds: number;
  /** Sizes of the worker's transactions, in the order of their nonces. */
  readonly batches: readonly number[];
  /** The signed bytes of each, by signer. */
  readonly signed: readonly SignedBatch[];
};

export type SignedBatch = { readonly raw: string; readonly hash: string };

type Options = {
  readonly setup: BenchSetup;
  readonly chain: BenchChain;
  readonly signing: Readonly<Record<string, string>>;
  readonly nfts: number;
  readonly connections: number;
  readonly say: (line: string) => void;
};

// Every count reads all the rows, on the cores that are measured: it is asked often only when the end is near.
const nearEnd = 0.9;
const farMs = 250;
const nearMs = 50;

/** From the first request to the last row that says minted; by both operations in turn. */
export async function measureMinting(options: Options): Promise<Minting> {
  const { setup, chain, signing, nfts, connections, say } = options;
  const issued = await setup.issue(nfts / 2);
  const requests = issued.flatMap((nft, index) => [setup.createRequest(index), setup.mintRequest(nft)]);
  const service = await startUnpinned({ ...setup.settings, ...signing, ROLES: 'api,worker' });
  try {
    await chain.nextBlock();
    const started = performance.now();
    const accepting = postAll(service.port, requests, connections, (count) => {
      if (count % 1_000 === 0) say(`  ${count} accepted after ${seconds(started)} s`);
    });
    const [accepted, mintedAt] = await Promise.all([accepting, untilMinted(setup.db, nfts, 120)]);
    const took = (mintedAt - started) / 1_000;
    const rows = await batchesOf(setup);
    return {
      nfts,
      seconds: Number(took.toFixed(2)),
      nftsPerSecond: Math.round(nfts / took),
      acceptedSeconds: Number(accepted.seconds.toFixed(2)),
      batches: rows.map(({ size }) => Number(size)),
      signed: rows.map(({ raw, hash }) => ({ raw: `0x${raw.toString('hex')}`, hash })),
    };
  } finally {
    await service.stop();
  }
}

type BatchRow = { raw: Buffer; hash: string; size: string };

async function batchesOf({ db }: BenchSetup): Promise<BatchRow[]> {
  const { rows } = await db.raw(
    `SELECT a.raw, a.hash, (SELECT count(*) FROM mint_transaction_nfts WHERE transaction_id = t.id) AS size
     FROM mint_transactions t JOIN mint_attempts a ON a.transaction_id = t.id AND a.number = 1
     ORDER BY t.nonce, t.signer`,
  );
  return rows;
}

/**
 * The raw limit: the very transactions of the worker, signed already, handed to a fresh chain all at once, until the
 * last transaction is as deep as the service wants it.
 */
export async function measureRaw(chain: BenchChain, signed: readonly SignedBatch[]): Promise<number> {
  let head = await chain.nextBlock();
  const started = performance.now();
  let left = signed;
  let deepest = 0;
  await handOver(chain, left);
  while (left.length > 0) {
    if (performance.now() - started > patienceMs) {
      throw new Error(`Of the raw transactions ${left.length} got no block.`);
    }
    await pause(10);
    const now = await chain.blockNumber();
    if (now === head) continue;
    head = now;
    const asked = left.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
    const receipts = (await chain.rpc.batch(asked)) as (Receipt | null)[]; // of a node
    if (receipts.some((receipt) => receipt?.status === '0x0')) throw new Error('A raw transaction failed.');
    deepest = Math.max(deepest, ...receipts.map((receipt) => Number(receipt?.blockNumber ?? 0)));
    left = left.filter((_each, index) => receipts[index] === null);
    await handOver(chain, left);
  }
  while ((await chain.blockNumber()) < deepest + confirmations - 1) await pause(10);
  return (performance.now() - started) / 1_000;
}

/** In the order of their nonces. Of a full block the node forgets those whose turn had not come, so they go again. */
async function handOver({ rpc }: BenchChain, signed: readonly SignedBatch[]): Promise<void> {
  for (const { raw } of signed) {
    await rpc.call('eth_sendRawTransaction', raw).catch((error: Error) => {
      if (!/already (imported|known)|nonce too low/i.test(error.message)) throw error;
    });
  }
}

const patienceMs = 60_000;

type Receipt = { readonly status: string; readonly blockNumber: string };

const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(1);

/** Waits until so many NFTs are minted. @returns when that was seen. @throws Error when it takes too long */
async function untilMinted(db: Database, count: number, seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const rows: { count: string }[] = await db('nfts').where({ mint_state: 'minted' }).count();
    const minted = Number(rows[0]?.count);
    if (minted >= count) return performance.now();
    if (performance.now() > deadline) throw new Error(`After ${seconds} s ${minted} of ${count} are minted.`);
    await pause(minted < nearEnd * count ? farMs : nearMs);
  }
}
