import { type Chance, faultKinds, setRight } from './fault-kinds.ts';
import type { MintSetup } from './mint-setup.ts';

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

function createChance(seed: number): Chance {
  const random = createRandom(seed);
  return {
    below: (limit) => Math.floor(random() * limit),
    of(items) {
      const item = items[Math.floor(random() * items.length)];
      if (item === undefined && items.length === 0) throw new Error('nothing to choose from');
      return item as (typeof items)[number]; // the index is below the length
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Accepts mints and lets go wrong what the seed says, then sets everything right.
 * @returns what was done, and what is wrong afterwards
 */
export async function runSequence(setup: MintSetup, seed: number) {
  const begun = performance.now();
  const chance = createChance(seed);
  const done: string[] = [];
  const ids = await setup.accept(1 + chance.below(6));
  setup.work(undefined, { MINT_STUCK_BLOCKS: '2' });
  const mining = setup.keepMining(100 + chance.below(300));
  const length = 4 + chance.below(10);
  for (let index = 0; index < length; index += 1) {
    done.push(await chance.of(faultKinds)(setup, chance, ids));
    await pause(chance.below(300));
  }
  mining.stop();
  // Those that still run go on, or the next begins after a crash of all.
  if (chance.below(2) === 0) await setup.killAll();
  const settling = performance.now();
  await setRight(setup);
  setup.work();
  const found = await setup.settle(ids);
  const state = found.length > 0 ? await setup.describe(ids) : undefined;
  await setup.killAll();
  const ended = performance.now();
  const ms = { faults: Math.round(settling - begun), settling: Math.round(ended - settling) };
  return { done, found, nfts: ids.length, ms, state };
}
