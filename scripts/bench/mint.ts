import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { areHeld, atLeast, atMost, below } from './limits.ts';
import { measureAcceptance } from './mint/acceptance.ts';
import { type BenchChain, type BenchSigners, createSigners, startBenchChain } from './mint/bench-chain.ts';
import { type BenchPostgres, startBenchPostgres } from './mint/bench-postgres.ts';
import { type BenchSetup, createSetup } from './mint/bench-setup.ts';
import { measurePickup } from './mint/pickup.ts';
import { measureStatements } from './mint/statements.ts';
import { measureMinting, measureRaw } from './mint/throughput.ts';
import { rounded, type Suite } from './suite.ts';

const connections = 32;
const signers = 2;
// Both sides end with a whole block of a second: over so many NFTs (34 blocks of the raw chain) one is under 3 %.
const whole = { nfts: 36_000, rounds: 3, perRound: 2_000, pickups: 200 };
const quick = { nfts: 1_000, rounds: 1, perRound: 500, pickups: 20 };

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
  about: 'From a mint over HTTP to the chain, against bare transactions and the raw chain; about 5 minutes',
  async run({ isQuick, say }) {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-bench-'));
    const postgres = await startBenchPostgres(folder);
    try {
      return await measureAll(await openRun(folder, postgres, isQuick ? quick : whole, say));
    } finally {
      await postgres.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function openRun(folder: string, postgres: BenchPostgres, sizes: Sizes, say: Say): Promise<Run> {
  const minters = await createSigners(folder, signers);
  const onFreshChain: Run['onFreshChain'] = async (work) => {
    const chain = await startBenchChain(folder, minters.addresses);
    return work(chain).finally(() => chain.stop());
  };
  const withSetup: WithSetup = (work) =>
    onFreshChain(async (chain) => work(await createSetup(await postgres.createDatabase(), chain), chain));
  return { sizes, say, minters, withSetup, onFreshChain };
}

async function measureAll(run: Run) {
  const { sizes, say } = run;
  say(`Acceptance: ${sizes.rounds} rounds of ${sizes.perRound} over ${connections} connections`);
  const { acceptance, statements } = await run.withSetup((setup, chain) => acceptThenMint(run, setup, chain));
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

  const ratios = {
    mintedToRaw: rounded(rawSeconds / minting.seconds),
    acceptedToBare: rounded(acceptance.acceptedToBare),
  };
  const limits = {
    mintedToRaw: atLeast(ratios.mintedToRaw, 0.8),
    acceptedToBare: atLeast(ratios.acceptedToBare, 1),
    pickupP50Ms: below(pickup.p50Ms, 50),
    pickupP99Ms: below(pickup.p99Ms, 250),
    workerStatementsPerNft: atMost(statements.perNft, 1.5),
  };
  const raw = { seconds: rounded(rawSeconds), nftsPerSecond: Math.round(sizes.nfts / rawSeconds) };
  // Where bare transactions are slower than the raw chain, no service mints what they accept at its pace.
  const beside = { bareToRaw: rounded(acceptance.barePerSecond / raw.nftsPerSecond) };
  return { ok: areHeld(limits), ratios, limits, beside, acceptance, pickup, statements, minting, raw };
}

/** What was accepted alone is minted afterwards: a queue that is there already makes full batches. */
async function acceptThenMint({ sizes, say, minters }: Run, setup: BenchSetup, chain: BenchChain) {
  await setup.registerLanes(minters.addresses);
  const { rounds, perRound } = sizes;
  const acceptance = await measureAcceptance({ setup, rounds, perRound, connections, say });
  say('Statements: a worker mints what was accepted');
  const settings = { ...setup.settings, ...minters.settings };
  return { acceptance, statements: await measureStatements({ setup, chain, settings }) };
}
