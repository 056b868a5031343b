import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import { killAtExit } from '../../../test/support/kill-at-exit.ts';

export type IndexerRun = {
  /** From the moment it may index until the last block is committed. */
  readonly milliseconds: number;
  /** Resident memory of the process in MB: its peak, and what it was on average in the first and the last quarter. */
  readonly memory: { readonly peak: number; readonly firstQuarter: number; readonly lastQuarter: number };
};

type RunOptions = {
  readonly db: Knex;
  readonly databaseUrl: string;
  readonly chainId: string;
  /** Its number ends the run. */
  readonly last: number;
  readonly parallel: number;
  /** Flags of Node, for a profile. */
  readonly nodeFlags: readonly string[];
  readonly say: (line: string) => void;
};

const longestMs = 15 * 60_000;

/** Starts the service with the role of the indexer as a process of its own, and stops it at the last block. */
export async function runIndexer(options: RunOptions): Promise<IndexerRun> {
  const { databaseUrl, parallel, nodeFlags } = options;
  const key = `bench:${Buffer.alloc(32, 1).toString('base64')}`;
  const child = spawn(process.execPath, [...nodeFlags, 'src/main.ts'], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env['PATH'] ?? '',
      ROLES: 'indexer',
      DATABASE_URL: databaseUrl,
      INDEX_PARALLEL: String(parallel),
      SECRET_KEYS: key,
      CURSOR_KEYS: key,
    },
  });
  killAtExit(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const started = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('"msg":"indexing"')) resolve(performance.now());
      if (text.includes(' ms: ')) options.say(text.trim());
      if (/"level":(4|5|6)0/.test(text)) options.say(text.trim());
    });
    child.once('exit', (code) => reject(new Error(`the indexer ended with ${code}`)));
  });
  const samples = await watch(options, child.pid ?? 0);
  const milliseconds = performance.now() - started;
  const peak = memoryOf(child.pid ?? 0, 'VmHWM');
  child.kill('SIGTERM');
  await ended;
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return {
    milliseconds,
    memory: {
      peak: Math.round(peak),
      firstQuarter: Math.round(mean(samples.slice(0, quarter))),
      lastQuarter: Math.round(mean(samples.slice(-quarter))),
    },
  };
}

/** @returns the memory at each look, until the last block is there */
async function watch({ db, chainId, last, say }: RunOptions, pid: number): Promise<number[]> {
  const samples: number[] = [];
  const deadline = performance.now() + longestMs;
  for (let head = 0; head < last; ) {
    if (performance.now() > deadline) throw new Error(`the index is still at block ${head} of ${last}`);
    await wait(100);
    samples.push(memoryOf(pid, 'VmRSS'));
    const [state]: { head_number: string | null }[] = await db('index_state').where('chain_id', chainId);
    head = Number(state?.head_number ?? 0);
    if (samples.length % 50 === 0) say(`  block ${head} of ${last}, ${Math.round(samples.at(-1) ?? 0)} MB`);
  }
  return samples;
}

/** Of a process, in MB, as Linux tells it. */
function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
