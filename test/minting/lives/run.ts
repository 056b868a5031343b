import { createHash } from 'node:crypto';
import { openDatabase } from './database.ts';
import { live } from './life.ts';
import type { Plan } from './plan.ts';
import { planOf } from './plan-of.ts';
import { kindOf, shrink } from './shrink.ts';
import { createVirtualTime } from './virtual.ts';

/** What a process is to do, as its argument in JSON. */
export type Lives = {
  readonly seeds: readonly number[];
  /** Writes the log of each life, as people read it, in place of a line of JSON. */
  readonly isTold?: boolean;
  /** Ends with the first life that goes wrong. */
  readonly isFirstEnough?: boolean;
  /** Searches for a shorter life that goes wrong, too, of each that does. */
  readonly isShrinking?: boolean;
};

/** The line of a life. */
export type LifeLine = {
  readonly seed: number;
  readonly found: readonly string[];
  /** Of its log: the same seed gives the same. */
  readonly digest: string;
  readonly nfts: number;
  readonly seconds: number;
  /** Of all cores, since the process began. */
  readonly cpuMs: number;
  readonly reasons: readonly string[];
  /** The shortest life that goes wrong as it does, and its log. */
  readonly shrunk?: { readonly plan: Plan; readonly log: readonly string[] };
};

// This file is a program: it lives the lives of its argument one after another.
const task: Lives = JSON.parse(process.argv[2] ?? '{"seeds":[]}');
const database = await openDatabase();
const time = createVirtualTime();
const write = (text: string) => process.stdout.write(`${text}\n`);

for (const seed of task.seeds) {
  const { found, log, ms, nfts, reasons } = await live(planOf(seed), database, time);
  if (task.isTold) write(log.join('\n'));
  const digest = createHash('sha256').update(log.join('\n')).digest('hex').slice(0, 16);
  const { user, system } = process.cpuUsage();
  const cpuMs = Math.round((user + system) / 1_000);
  const line: LifeLine = { seed, found, digest, nfts, seconds: Math.round(ms / 1_000), cpuMs, reasons };
  const isShrunk = found.length > 0 && task.isShrinking;
  const shrunk = isShrunk ? await shrunkOf(seed, kindOf(found[0] ?? '')) : undefined;
  if (!task.isTold) write(JSON.stringify({ ...line, ...(shrunk && { shrunk }) }));
  if (found.length > 0) process.exitCode = 1;
  if (found.length > 0 && task.isFirstEnough) break;
}
time.end();
// The database has no end of its own.
process.exit();

async function shrunkOf(seed: number, kind: string) {
  const isWrong = async (plan: Plan) =>
    (await live(plan, database, time)).found.some((text) => kindOf(text) === kind);
  const plan = await shrink(planOf(seed), isWrong);
  const { log } = await live(plan, database, time);
  return { plan, log };
}
