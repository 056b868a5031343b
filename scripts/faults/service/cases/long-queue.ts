import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../../../src/contract/transaction.ts';
import { createCaller } from '../../../load/caller.ts';
import type { Fault, Stage } from '../fault.ts';
import { deadlineMs } from '../usual-load.ts';
import { makeUnclaimed, queueMints, takeBackQueued } from './hoards.ts';
import { greedy } from './neighbours.ts';

const everyMs = 1_000;
const mostMs = 2_000;
/** To look more often takes what it looks at the cores. */
const lookMs = 50;
/** A mint that is not at the node by then is not waited for. */
const patienceMs = 20_000;

/** A mint of the neighbour, in milliseconds. */
type Mint = {
  /** When it was accepted, since the fault began. */
  readonly at: number;
  /** From then until it has a signed transaction; undefined when it has none. */
  storedMs?: number;
  /** From then until its transaction is at the node; undefined when it is not. */
  atNodeMs?: number;
};

/** Mints one NFT of the neighbour. @returns undefined when it was not accepted */
async function timeToNode(
  { service, around }: Stage,
  db: Database,
  begun: number,
): Promise<Mint | undefined> {
  const { name, otherKey, rwas, wallets } = around.world.globex;
  const caller = createCaller({
    ...{ port: service.port, company: name, key: otherKey, deadlineMs },
    address: '127.0.3.5',
  });
  let nft: string | undefined;
  await caller.ask({
    ...{ kind: 'mint', method: 'POST', path: `/v1/api/rwa/${rwas[0]}/mint`, body: { recipient: wallets[0] } },
    onAccepted(text) {
      const body: { nftId: string } = JSON.parse(text);
      nft = body.nftId;
    },
  });
  caller.close();
  if (nft === undefined) return undefined;
  const answered = performance.now();
  const mint: Mint = { at: answered - begun };
  while (mint.atNodeMs === undefined && performance.now() - answered < patienceMs) {
    const hash = await hashOf(db, nft);
    if (hash !== undefined) mint.storedMs ??= performance.now() - answered;
    if (hash !== undefined && (await isAtNode(around, hash))) mint.atNodeMs = performance.now() - answered;
    else await pause(lookMs);
  }
  return mint;
}

async function hashOf(db: Database, nft: string): Promise<string | undefined> {
  const sent = await db('mint_transaction_nfts as l')
    .join('mint_attempts as a', 'a.transaction_id', 'l.transaction_id')
    .where('l.nft_id', nft)
    .first('a.hash');
  return sent?.hash;
}

/**
 * Whether a node took its transaction. Not whether the chain shows it: when a block is full, anvil drops a small one behind
 * those that do not fit into it, as invalid, and has it again only when it is broadcast again.
 */
async function isAtNode({ nodes }: Stage['around'], hash: string): Promise<boolean> {
  const took = await Promise.all(nodes.map((node) => node.took(hash)));
  return took.includes(true);
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function told(mint: Mint | undefined): string {
  if (mint === undefined) return 'a mint of the neighbour was not accepted';
  const { at, storedMs, atNodeMs } = mint;
  const stored = storedMs === undefined ? 'never signed' : `signed in ${seconds(storedMs)}`;
  const sent = atNodeMs === undefined ? 'not at the node' : `at the node in ${seconds(atNodeMs)}`;
  return `a mint of the neighbour, after ${seconds(at)}: ${stored}, ${sent}`;
}

const numberSent = async (db: Database) =>
  Number((await db('mint_transactions').count({ count: '*' }))[0]?.['count']);

const assets = new WeakMap<Stage, string>();

/** A company that has queued much, on a chain with a block a second: lanes have full batches to settle all the time. */
export const longQueue: Fault = greedy({
  name: 'a long queue',
  about: '100,000 mints of another company, while one mint a second is at the node within 2 s',
  async prepare(db, stage) {
    assets.set(stage, await makeUnclaimed(db, stage));
    return async () => {};
  },
  arrange: (db, stage) => queueMints(db, stage, assets.get(stage) ?? ''),
  async begin(stage, db) {
    const before = await numberSent(db);
    const begun = performance.now();
    const mints: (Mint | undefined)[] = [];
    let isOver = false;
    const minting = (async () => {
      while (!isOver) {
        mints.push(await timeToNode(stage, db, begun));
        await pause(everyMs);
      }
    })();
    return async () => {
      isOver = true;
      await minting;
      await takeBackQueued(db, assets.get(stage) ?? '');
      const sent = (await numberSent(db)) - before;
      const slowest = Math.max(...mints.map((mint) => mint?.atNodeMs ?? patienceMs));
      const late = mints.filter((mint) => mint?.atNodeMs === undefined || mint.atNodeMs >= mostMs);
      return {
        acted: sent > mints.length,
        note: `${mints.length} mints of the neighbour at the node within ${seconds(slowest)}, among ${sent} transactions`,
        violations: late.map(told),
      };
    };
  },
});
