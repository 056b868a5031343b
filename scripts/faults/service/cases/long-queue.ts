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

/** Mints one NFT of the neighbour. @returns milliseconds from the answer until its transaction is at the node; undefined when it is not */
async function timeToNode({ service, around }: Stage, db: Database): Promise<number | undefined> {
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
  while (performance.now() - answered < patienceMs) {
    if (await isAtNode(around, db, nft)) return performance.now() - answered;
    await pause(lookMs);
  }
  return undefined;
}

/**
 * Whether a node took its transaction. Not whether the chain shows it: when a block is full, anvil drops a small one behind
 * those that do not fit into it, as invalid, and has it again only when it is broadcast again.
 */
async function isAtNode({ nodes }: Stage['around'], db: Database, nft: string): Promise<boolean> {
  const sent = await db('mint_transaction_nfts as l')
    .join('mint_attempts as a', 'a.transaction_id', 'l.transaction_id')
    .where('l.nft_id', nft)
    .first('a.hash');
  if (sent === undefined) return false;
  const took = await Promise.all(nodes.map((node) => node.took(sent.hash)));
  return took.includes(true);
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
    const times: (number | undefined)[] = [];
    let isOver = false;
    const minting = (async () => {
      while (!isOver) {
        times.push(await timeToNode(stage, db));
        await pause(everyMs);
      }
    })();
    return async () => {
      isOver = true;
      await minting;
      await takeBackQueued(db, assets.get(stage) ?? '');
      const sent = (await numberSent(db)) - before;
      const slowest = Math.max(...times.map((ms) => ms ?? patienceMs));
      const late = times.filter((ms) => ms === undefined || ms >= mostMs).length;
      return {
        acted: sent > times.length,
        note: `${times.length} mints of the neighbour at the node within ${(slowest / 1_000).toFixed(1)} s, among ${sent} transactions`,
        violations:
          late > 0 ? [`${late} of ${times.length} mints of the neighbour not at the node in 2 s`] : [],
      };
    };
  },
});
