import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createProgress } from '../../../src/cli/shared/progress.ts';
import { allFaults } from './all-faults.ts';
import type { Fault } from './fault.ts';
import { tableOf, writeReadme } from './report.ts';
import { runFault } from './run-fault.ts';
import { openStage } from './stage.ts';
import { brokenOff, type Outcome, worseOf } from './verdict.ts';

const usage = `Usage: npm run faults -- service [--minutes <n>] [--only <words>] [--rate <n>] [--readme] [--keep] [--list]

Lets everything around the service go wrong while two companies use it: its processes as npm run serve starts them
(two replicas behind a balancer, a worker, an indexer), a PostgreSQL, a chain, nodes, an upstream and an
authentication service, each of which fails in turn.

  --minutes  go round again until so many minutes are over, and tell of the worst of each fault; without it, each once
  --only     faults of these names, or whose name has one of these words, with commas between them
  --rate     requests a second, 20 by default
  --readme   put the table into docs/faults.md; only of all faults, with those named that cannot be caused on this machine
  --keep     keep the folder with the logs of all processes
  --list     name the faults and end

A fault is held when every request is answered within 15 s, with what was asked for or with 502 or 503 and
Retry-After, the service is as before within 15 s (40 s where connections are lost in silence) without a restart, a mint afterwards is minted and the index at the
head within 15 s, no accepted write is lost, every counter and every mint is true, no rejection is unhandled, no process
has ended, and something shows that the fault happened at all. Where the fault is another company, its neighbour waits
less than five times as long as in quiet, and /healthz of each replica is answered within 1 s. The last line is one JSON
object.
`;

/** Runs the command. @returns whether every fault was held */
export async function runServiceFaults(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '0' },
      only: { type: 'string', default: '' },
      rate: { type: 'string', default: '20' },
      readme: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.readme && values.only !== '') throw new Error('--readme takes all faults, not those of --only.');
  const chosen = chosenBy(values.only);
  if (values.help || values.list) {
    process.stdout.write(
      values.help ? usage : chosen.map(({ name, about }) => `${name}: ${about}\n`).join(''),
    );
    return true;
  }
  // Stopped half-way it takes everything along that it has started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const folder = mkdtempSync(path.join(tmpdir(), 'tallystick-faults-'));
  const { outcomes, leftOut } = await runAll(chosen, {
    folder,
    perSecond: Number(values.rate),
    minutes: Number(values.minutes),
  });
  process.stdout.write(`${tableOf(outcomes)}\n`);
  if (values.keep) process.stdout.write(`The logs are in ${folder}\n`);
  else rmSync(folder, { recursive: true, force: true });
  if (values.readme) await writeReadme(outcomes, leftOut, new Date().toISOString().slice(0, 10));
  const held = outcomes.filter(({ violations }) => violations.length === 0).length;
  process.stdout.write(
    `${JSON.stringify({ suite: 'faults service', faults: outcomes.length, held, outcomes })}\n`,
  );
  return held === outcomes.length;
}

/** @throws Error when no fault has such a name */
function chosenBy(only: string): readonly Fault[] {
  const words = only
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
  const names = new Set(allFaults.map(({ name }) => name));
  const isMeant = (name: string) => (word: string) => (names.has(word) ? name === word : name.includes(word));
  const chosen = allFaults.filter(({ name }) => words.length === 0 || words.some(isMeant(name)));
  if (chosen.length === 0) throw new Error(`No fault has ${only} in its name; see --list.`);
  return chosen;
}

type RunOptions = { readonly folder: string; readonly perSecond: number; readonly minutes: number };

async function runAll(
  faults: readonly Fault[],
  { folder, perSecond, minutes }: RunOptions,
): Promise<{ outcomes: Outcome[]; leftOut: string[] }> {
  await using opened = new AsyncDisposableStack();
  const stage = await openStage(folder, opened);
  const outcomes = new Map<string, Outcome>();
  const leftOut = new Map<string, string>();
  const until = performance.now() + minutes * 60_000;
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const progress = createProgress(process.stderr, 'faults');
  do {
    for (const [index, fault] of faults.entries()) {
      progress.update(index, faults.length);
      const missing = fault.missing?.(stage);
      say(`${index + 1} of ${faults.length}: ${fault.name}${missing ? `, left out: ${missing}` : ''}`);
      if (missing !== undefined) {
        leftOut.set(fault.name, missing);
        continue;
      }
      const outcome = await runFault(fault, stage, { perSecond, say }).catch((error: Error) =>
        brokenOff(fault, error),
      );
      say(`  ${outcome.violations.length === 0 ? 'held' : outcome.violations.join('; ')}`);
      outcomes.set(fault.name, worseOf(outcomes.get(fault.name), outcome));
    }
  } while (performance.now() < until);
  progress.stop();
  // What was caused in one round is not left out, though it cannot be caused in the next.
  const never = [...leftOut].filter(([name]) => !outcomes.has(name));
  return { outcomes: [...outcomes.values()], leftOut: never.map(([name, why]) => `${name} (${why})`) };
}
