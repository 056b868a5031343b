import { spawn } from 'node:child_process';
import { createDatabase } from '../../../src/db/connect.ts';
import { createLogger } from '../../../src/log.ts';
import { killAtExit } from '../../../test/support/kill-at-exit.ts';
import { freePort } from '../../../test/support/postgres.ts';
import type { BenchChain } from '../index/bench-chain.ts';
import { memoryOf } from '../index/run-indexer.ts';
import { startDurablePostgres } from '../index/whole-index.ts';
import { ponderFolder } from './install.ts';

export type PonderRun = {
  /** From the moment it begins to index until it says that all blocks are. */
  readonly milliseconds: number;
  /** Of the table of transfers. */
  readonly rows: number;
  readonly peakMb: number;
};

/**
 * How Ponder is told of the node. It begins with 20 requests a second to each address and goes up by its own pace: with one
 * address, as it is set up for a node, that pace decides; without one the node is named so often that it does not.
 */
export type Pace = 'own' | 'none';
const addresses: Readonly<Record<Pace, number>> = { own: 1, none: 25 };

type RunOptions = { readonly pace: Pace; readonly say: (line: string) => void };

const longestMs = 15 * 60_000;

/** Indexes the token transfers of the chain's mix with Ponder, into a PostgreSQL like that of our index. */
export async function runPonder(chain: BenchChain, options: RunOptions): Promise<PonderRun> {
  const postgres = await startDurablePostgres();
  try {
    const indexed = await index(chain, postgres.url, options);
    return { ...indexed, rows: await countTransfers(postgres.url) };
  } finally {
    await postgres.close();
  }
}

async function index(chain: BenchChain, databaseUrl: string, { pace, say }: RunOptions) {
  const { rpcUrl, contracts, first, last } = chain;
  const program = ['node_modules/ponder/dist/esm/bin/ponder.js', 'start', '--schema', 'bench'];
  const server = ['--port', String(await freePort()), '--hostname', '127.0.0.1'];
  const child = spawn(process.execPath, [...program, ...server, '--log-format', 'json'], {
    cwd: ponderFolder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: ponderFolder,
      PONDER_TELEMETRY_DISABLED: 'true',
      DATABASE_URL: databaseUrl,
      BENCH_RPC_URLS: Array(addresses[pace]).fill(rpcUrl).join(','),
      BENCH_FIRST: String(first),
      BENCH_LAST: String(last),
      BENCH_COINS: [contracts.SampleToken, contracts.Wrapped].join(','),
      BENCH_COLLECTIBLE: contracts.SampleCollectible,
      BENCH_EDITION: contracts.SampleEdition,
    },
  });
  killAtExit(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const done = Promise.withResolvers<number>();
  let begun: number | undefined;
  child.once('exit', (code) => done.reject(new Error(`Ponder ended with ${code}`)));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (/"level":(?:50|60)/.test(text)) say(text.trimEnd());
    if (text.includes('Started backfill indexing')) begun = performance.now();
    if (text.includes('Completed backfill indexing')) done.resolve(performance.now());
  });
  const timer = setTimeout(() => done.reject(new Error('Ponder is not done in time')), longestMs);
  try {
    const finished = await done.promise;
    if (begun === undefined) throw new Error('Ponder did not say when it began');
    return { milliseconds: finished - begun, peakMb: Math.round(memoryOf(child.pid ?? 0, 'VmHWM')) };
  } finally {
    clearTimeout(timer);
    child.kill('SIGTERM');
    await ended;
  }
}

async function countTransfers(databaseUrl: string): Promise<number> {
  const db = createDatabase(databaseUrl, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  try {
    const { rows } = await db.raw<{ rows: [{ readonly transfers: string }] }>(
      'SELECT count(*) AS transfers FROM bench.transfer',
    );
    return Number(rows[0].transfers);
  } finally {
    await db.destroy();
  }
}
