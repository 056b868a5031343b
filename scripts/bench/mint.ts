import { openDurableDatabase } from './durable-database.ts';
import { type BenchChain, type BenchSigners, createSigners, startBenchChain } from './mint/bench-chain.ts';
import { type BenchSetup, createSetup } from './mint/bench-setup.ts';
import { measurePickup } from './mint/pickup.ts';
import { measureMinting, measureRaw } from './mint/throughput.ts';
import { areHeld, atLeast, below, rounded, type Suite } from './suite.ts';

const connections = 32;
const signers = 2;
// Both sides end with a whole block of a second: over so many NFTs (34 blocks of the raw chain) one is under 3 %.
const whole = { nfts: 36_000, pickups: 200 };
const quick = { nfts: 1_000, pickups: 20 };

type Say = (line: string) => void;
type Sizes = typeof whole;

/** Runs the work over a setup of its own: a new database, and a fresh chain with the run's signers. */
type WithSetup = <T>(work: (setup: BenchSetup, chain: BenchChain) => Promise<T>) => Promise<T>;

type Run = {
  readonly sizes: Sizes;
  readonly say: Say;
  readonly minters: BenchSigners;
  readonly withSetup: WithSetup;
  readonly onFreshChain: <T>(work: (chain: BenchChain) => Promise<T>) => Promise<T>;
};

export const mintSuite: Suite = {
  about: 'From a mint over HTTP to the chain, against the raw chain; about 3 minutes',
  async run({ isQuick, say }) {
    return measureAll(await openRun(isQuick ? quick : whole, say));
  },
};

async function openRun(sizes: Sizes, say: Say): Promise<Run> {
  const minters = await createSigners(signers);
  const onFreshChain: Run['onFreshChain'] = async (work) => {
    const chain = await startBenchChain(minters.addresses);
    return work(chain).finally(() => chain.close());
  };
  const withSetup: WithSetup = (work) =>
    onFreshChain(async (chain) => {
      const database = await openDurableDatabase();
      const setup = await createSetup(database, chain);
      return work(setup, chain).finally(() => database.close());
    });
  return { sizes, say, minters, withSetup, onFreshChain };
}

async function measureAll(run: Run) {
  const { sizes, say } = run;
  say(`Pickup: ${sizes.pickups} mints, one by one`);
  const signing = run.minters.settings;
  const pickup = await run.withSetup((setup, chain) =>
    measurePickup({ setup, chain, signing, mints: sizes.pickups }),
  );
  say(`Minting: ${sizes.nfts} NFTs over ${connections} connections, half by each operation`);
  const { signed, ...minting } = await run.withSetup((setup, chain) =>
    measureMinting({ setup, chain, signing, nfts: sizes.nfts, connections, say }),
  );
  say(`The raw chain: the same ${signed.length} transactions, signed already`);
  const rawSeconds = await run.onFreshChain((chain) => measureRaw(chain, signed));

  const ratios = { mintedToRaw: rounded(rawSeconds / minting.seconds) };
  const limits = {
    mintedToRaw: atLeast(ratios.mintedToRaw, 0.8),
    pickupP50Ms: below(pickup.p50Ms, 50),
    pickupP99Ms: below(pickup.p99Ms, 250),
  };
  const raw = { seconds: rounded(rawSeconds), nftsPerSecond: Math.round(sizes.nfts / rawSeconds) };
  return { ok: areHeld(limits), ratios, limits, pickup, minting, raw };
}
