import type { MintStep } from '../../src/rwa/mint-worker/lane-context.ts';
import { lies } from '../support/lying-node.ts';
import type { MintWorld } from './mint-world.ts';

/** Numbers from 0 to 1 that only the seed decides (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const steps: readonly MintStep[] = [
  'signed',
  'stored',
  'sent',
  'raise_stored',
  'raise_sent',
  'rebroadcast',
  'mined',
  'confirming',
  'confirmed',
  'reorganised',
  'finalized',
  'released',
];

type Chance = {
  /** A whole number from 0, below this. */
  below(limit: number): number;
  of<T>(items: readonly T[]): T;
};

type Fault = (world: MintWorld, chance: Chance, ids: string[]) => Promise<string>;

const faults: readonly Fault[] = [
  async (world, chance, ids) => {
    const count = 1 + chance.below(8);
    ids.push(...(await world.accept(count)));
    return `accept ${count}`;
  },
  async (world, chance) => {
    const lie = chance.of(lies);
    world.node.lie(lie);
    return `node: ${lie}`;
  },
  async (world) => {
    world.node.lie(undefined);
    return 'node: truth';
  },
  async (world, chance) => {
    const killAt = { step: chance.of(steps), times: 1 + chance.below(3) };
    world.work(killAt, { MINT_STUCK_BLOCKS: '2' });
    return `worker that dies at ${killAt.step} ${killAt.times}`;
  },
  async (world) => {
    world.work(undefined, { MINT_STUCK_BLOCKS: '2' });
    return 'worker';
  },
  async (world) => {
    await world.killAll();
    return 'kill -9';
  },
  async (world, chance) => {
    const blocks = 1 + chance.below(3);
    await world.chain.mine(blocks);
    return `mine ${blocks}`;
  },
  async (world, chance) => {
    // Two blocks lie on what is final; the confirmations are two as well.
    const depth = 1 + chance.below(2);
    await world.chain.call('anvil_reorg', depth, []).catch(() => {});
    return `reorganise ${depth}`;
  },
  async (world) => {
    await world.chain.call('anvil_dropAllTransactions');
    return 'drop transactions';
  },
  async (world, chance) => {
    const on = chance.of([true, false]);
    await world.chain.call('evm_setAutomine', on);
    return `blocks on demand: ${on}`;
  },
  async (world, chance) => {
    const gwei = chance.of([1, 5, 40]);
    await world.chain.call('anvil_setNextBlockBaseFeePerGas', `0x${(gwei * 1e9).toString(16)}`);
    return `base fee ${gwei} gwei`;
  },
  async (world) => {
    await world.service.db.raw('TRUNCATE pgboss.job CASCADE');
    return 'wipe the queue';
  },
  async (world) => {
    await world.service.db.raw(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    return 'cut every connection to the database';
  },
  async (world, _chance, ids) => {
    const row = await world.service
      .db('nfts')
      .whereIn('id', ids)
      .whereIn('mint_state', ['queued', 'submitted'])
      .first();
    if (row === undefined) return 'nothing to mint by hand';
    // Whoever comes second is refused by the contract: that is the last guard.
    await world.chain.mintByHand(row.recipient, row.token_id).catch(() => {});
    return `mint serial ${row.serial} by hand`;
  },
];

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Accepts mints and lets go wrong what the seed says, then sets everything right.
 * @returns what was done, and what is wrong afterwards
 */
export async function runSequence(world: MintWorld, seed: number) {
  const random = createRandom(seed);
  const chance: Chance = {
    below: (limit) => Math.floor(random() * limit),
    of: (items) => {
      const item = items[Math.floor(random() * items.length)];
      if (item === undefined) throw new Error('nothing to choose from');
      return item;
    },
  };
  const done: string[] = [];
  const ids = await world.accept(1 + chance.below(6));
  world.work(undefined, { MINT_STUCK_BLOCKS: '2' });
  const mining = world.keepMining(100 + chance.below(300));
  const length = 4 + chance.below(10);
  for (let index = 0; index < length; index += 1) {
    done.push(await chance.of(faults)(world, chance, ids));
    await pause(chance.below(400));
  }
  mining.stop();
  await world.killAll();
  const found = await world.settle(ids);
  await world.killAll();
  return { done, found, nfts: ids.length };
}
