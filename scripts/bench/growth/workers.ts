import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Replica, startReplica } from '../../load/replica.ts';
import { type BenchChain, createSigners, startBenchChain } from '../mint/bench-chain.ts';
import { type BenchPostgres, startBenchPostgres } from '../mint/bench-postgres.ts';
import { createSetup } from '../mint/bench-setup.ts';
import { untilMinted } from '../mint/minted.ts';
import { postAll } from '../mint/post-all.ts';
import { startServiceProcess } from '../mint/service-process.ts';
import { rounded } from '../suite.ts';
import { cpuOf } from './lists.ts';

const networks = ['31337', '31338'] as const;
const connections = 32;

type Options = {
  readonly folder: string;
  readonly isQuick: boolean;
  readonly say: (line: string) => void;
};
type Pace = {
  readonly nftsPerSecond: number;
  /** Seconds of CPU of the workers. */
  readonly cpuPerThousand: number;
};
type Network = { readonly chain: BenchChain; readonly signing: Readonly<Record<string, string>> };

/**
 * NFTs of two networks from HTTP to minted: by one worker that serves both, and by two that serve one each. Fresh chains and a
 * fresh database each time; the api is a process of its own.
 */
export async function measureWorkers({ folder, isQuick, say }: Options) {
  const place = path.join(folder, 'workers');
  await mkdir(place);
  const postgres = await startBenchPostgres(place);
  try {
    const nfts = isQuick ? 2_000 : 8_000;
    const measure = async (name: string, apart: boolean) => {
      const pace = await measureOnce({ folder: place, postgres, nfts, apart });
      say(`${name}: ${JSON.stringify(pace)}`);
      return pace;
    };
    const oneWorker = await measure('oneWorker', false);
    const twoWorkers = await measure('twoWorkers', true);
    return {
      found: { oneWorker, twoWorkers },
      ratios: { paceOfTwoWorkers: rounded(twoWorkers.nftsPerSecond / oneWorker.nftsPerSecond) },
    };
  } finally {
    await postgres.close();
  }
}

type Once = {
  readonly folder: string;
  readonly postgres: BenchPostgres;
  readonly nfts: number;
  /** Whether each network has a worker of its own. */
  readonly apart: boolean;
};

async function measureOnce({ folder, postgres, nfts, apart }: Once): Promise<Pace> {
  await using opened = new AsyncDisposableStack();
  const served: Network[] = [];
  for (const network of networks) served.push(await startNetwork(folder, network, opened));
  const chains = served.map(({ chain }) => chain);
  const setup = await createSetup(await postgres.createDatabase(), ...chains);
  const workers: Replica[] = [];
  for (const signing of apart ? served.map((each) => each.signing) : [joined(served)]) {
    const settings = { ...setup.settings, ...signing, ROLES: 'worker', LOG_LEVEL: 'info' };
    const worker = await startReplica({ name: 'growth-worker', folder, settings });
    workers.push(opened.adopt(worker, (each) => each.stop()));
  }
  const api = await startServiceProcess(folder, { ...setup.settings, ROLES: 'api' });
  opened.defer(() => api.stop());
  const requests = Array.from({ length: nfts }, (_, index) => setup.createRequest(index));
  const cpu = await cpuOf(workers);
  await chains[0]?.nextBlock();
  const began = performance.now();
  const [, mintedAt] = await Promise.all([
    postAll(api.port, requests, connections),
    untilMinted(setup.db, nfts, 120),
  ]);
  return {
    nftsPerSecond: Math.round((nfts * 1_000) / (mintedAt - began)),
    cpuPerThousand: rounded(((await cpuOf(workers)) - cpu) / (nfts / 1_000)),
  };
}

async function startNetwork(parent: string, network: string, opened: AsyncDisposableStack): Promise<Network> {
  const folder = path.join(parent, network);
  await mkdir(folder, { recursive: true });
  const signers = await createSigners(folder, 1, network);
  const chain = await startBenchChain(folder, signers.addresses, [], network);
  opened.defer(() => chain.stop());
  return { chain, signing: signers.settings };
}

/** Settings of one worker that signs for all of them. */
function joined(served: readonly Network[]): Readonly<Record<string, string>> {
  const [first] = served;
  return { ...first?.signing, MINT_SIGNERS: served.map(({ signing }) => signing['MINT_SIGNERS']).join(',') };
}
