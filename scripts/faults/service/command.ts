import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { startFleet } from '../../load/fleet.ts';
import { createLedger } from '../../load/ledger.ts';
import { startSurroundings } from '../../load/surroundings.ts';
import { stockWorld } from '../../load/world.ts';
import { writeReadmePart } from '../../readme-part.ts';
import { allFaults, ofSoak } from './cases/all.ts';
import type { Fault, Stage } from './fault.ts';
import { growthOf, growthViolations, type Samples, takeSamples } from './growth.ts';
import { brokenOff, cellsOf, heads, type Outcome, worseOf } from './outcome.ts';
import { runFault } from './run-fault.ts';

const usage = `Usage: npm run faults -- service [--only <words>] [--minutes <n>] [--rate <n>] [--keep] [--readme] [--list]
       npm run soak -- [--minutes <n>] [--seed <n>] [--rate <n>] [--keep]

Lets everything around the service go wrong while two companies use it: its processes as npm run serve starts them
(two replicas behind a balancer, a worker, an indexer), a PostgreSQL, a chain, nodes, an upstream and an
authentication service, each of which fails in turn. A soak goes round through those faults that leave the processes as
they are, and measures what each process has in the quiet between.

  --only     faults of these names, or whose name has one of these words, with commas between them
  --minutes  go round again until so many minutes are over, and report the worst of each fault; without it each once, and
             a soak for 5 minutes
  --seed     which fault of a soak is the first, by default the number of the day: a short one does not reach all of them
  --rate     requests a second, 20 by default
  --keep     keep the folder with the logs of all processes
  --readme   put the table into docs/faults.md; only of all faults, with those named that cannot be caused on this machine
  --list     name the faults and end

A fault passes when every request is answered within 15 s, with what was asked for or with 502 or 503 and
Retry-After, the service is as before within 15 s (40 s where connections are lost in silence) without a restart, a mint
afterwards is minted and the index at the head within 15 s, no accepted write is lost, every counter and every mint is
true, no rejection is unhandled, no process has ended, memory and descriptors are back, and something shows that the
fault happened at all. Before it, every request is served. Where the fault is another company, its neighbour waits less
than five times as long as in quiet. A soak fails too where memory, heap, descriptors, timers or sockets of a process
grow: memory by more than a tenth and 20 MB. The last line is one JSON object.
`;

/** Runs the command. @returns whether every promise was kept */
export async function runServiceFaults(args: readonly string[], isSoak: boolean): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      minutes: { type: 'string', default: isSoak ? '5' : '0' },
      seed: { type: 'string', default: String(Math.floor(Date.now() / 86_400_000)) },
      rate: { type: 'string', default: '20' },
      readme: { type: 'boolean' },
      keep: { type: 'boolean' },
      list: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.readme && (values.only !== '' || isSoak)) throw new Error('--readme takes all faults.');
  const chosen = isSoak ? turned(ofSoak, Number(values.seed)) : chosenBy(values.only);
  if (values.help || values.list) {
    const list = chosen.map(({ name, about }) => `${name}: ${about}\n`).join('');
    process.stdout.write(values.help ? usage : list);
    return true;
  }
  // Stopped half-way it takes everything along that it has started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const folder = mkdtempSync(path.join(tmpdir(), 'tallystick-faults-'));
  const options = { folder, perSecond: Number(values.rate), minutes: Number(values.minutes) };
  const samples: Samples = new Map();
  const { outcomes, leftOut } = await runAll(chosen, options, isSoak ? samples : undefined);
  const table = new Table({
    head: heads,
    style: { head: [], border: [] },
    wordWrap: true,
    colWidths: widths,
  });
  table.push(...outcomes.map(cellsOf));
  const growth = growthOf(samples);
  const violations = growthViolations(samples);
  process.stdout.write(`${table.toString()}\n${growthTable(growth)}${violations.join('\n')}\n`);
  if (values.keep) process.stdout.write(`The logs are in ${folder}\n`);
  else rmSync(folder, { recursive: true, force: true });
  if (values.readme) await writeReadme(outcomes, leftOut);
  const passed = outcomes.filter((outcome) => outcome.violations.length === 0).length;
  const total = { suite: isSoak ? 'soak' : 'faults service', faults: outcomes.length, passed, violations };
  process.stdout.write(`${JSON.stringify({ ...total, growth, outcomes })}\n`);
  return passed === outcomes.length && violations.length === 0;
}

const widths = [26, 8, 6, 10, 7, 10, 10, 8, 8, 9, 6, 44];

const turned = <T>(all: readonly T[], by: number): T[] => {
  const first = by % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
};

function growthTable(growth: ReturnType<typeof growthOf>): string {
  if (growth.length === 0) return '';
  const table = new Table({
    head: ['Process', 'What', 'At first', 'At last', 'At most'],
    style: { head: [] },
  });
  table.push(
    ...growth.map(({ process: name, quantity, ...rest }) => [name, quantity, ...Object.values(rest)]),
  );
  return `${table.toString()}\n`;
}

/** @throws Error when no fault has such a name */
function chosenBy(only: string): readonly Fault[] {
  const words = only.split(',').map((word) => word.trim());
  const names = new Set(allFaults.map(({ name }) => name));
  const isMeant = (name: string) => (word: string) => (names.has(word) ? name === word : name.includes(word));
  const chosen = allFaults.filter(({ name }) => words.some(isMeant(name)));
  if (chosen.length === 0) throw new Error(`No fault has ${only} in its name; see --list.`);
  return chosen;
}

/** Starts the service and its surroundings. @param opened stops them */
async function openStage(folder: string, opened: AsyncDisposableStack): Promise<Stage> {
  const around = opened.adopt(await startSurroundings(folder), (surroundings) => surroundings.close());
  const { settingsOf } = around;
  const service = opened.adopt(await startFleet({ folder, settingsOf }), (running) => running.stop());
  const world = await stockWorld(service.port, around.world);
  return { around, service, world, ledger: createLedger() };
}

type RunOptions = { readonly folder: string; readonly perSecond: number; readonly minutes: number };

/** In the quiet before each fault of a soak. */
const samplesAtOnce = 4;

async function runAll(
  faults: readonly Fault[],
  { folder, perSecond, minutes }: RunOptions,
  samples: Samples | undefined,
): Promise<{ outcomes: Outcome[]; leftOut: string[] }> {
  await using opened = new AsyncDisposableStack();
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const stage = await openStage(folder, opened);
  const outcomes = new Map<string, Outcome>();
  const leftOut = new Map<string, string>();
  const begun = performance.now();
  const minutesSince = () => (performance.now() - begun) / 60_000;
  const inQuiet = samples && (() => takeSamples(samples, stage.service.replicas(), samplesAtOnce));
  const options = { perSecond, ...(inQuiet && { inQuiet }) };
  for (let turn = 0; turn < faults.length || minutesSince() < minutes; turn += 1) {
    // A soak ends in time; the faults are all reached.
    if (samples && minutesSince() >= minutes) break;
    const fault = faults[turn % faults.length];
    if (fault === undefined) break;
    const missing = fault.missing?.(stage);
    if (missing !== undefined) leftOut.set(fault.name, missing);
    say(`${minutesSince().toFixed(1)} min: ${fault.name}${missing ? `, left out: ${missing}` : ''}`);
    if (missing !== undefined) continue;
    const outcome = await runFault(fault, stage, options).catch((error: Error) => brokenOff(fault, error));
    for (const detail of outcome.details.slice(0, 4)) say(`  ${detail}`);
    say(`  ${outcome.violations.length === 0 ? 'passed' : outcome.violations.join('; ')}`);
    outcomes.set(fault.name, worseOf(outcomes.get(fault.name), outcome));
  }
  if (samples) await takeSamples(samples, stage.service.replicas(), samplesAtOnce);
  // A fault that ran in one round is not left out, though it cannot run in the next round.
  const never = [...leftOut].filter(([name]) => !outcomes.has(name));
  return { outcomes: [...outcomes.values()], leftOut: never.map(([name, why]) => `${name} (${why})`) };
}

/** Puts the outcomes of a whole run into docs/faults.md, in place of the last outcomes. @throws Error without the place */
async function writeReadme(outcomes: readonly Outcome[], leftOut: readonly string[]): Promise<void> {
  const rows = outcomes.map((outcome) => {
    const [name, ...cells] = cellsOf(outcome);
    return `| ${[`${name}: ${outcome.about}`, ...cells].join(' | ')} |`;
  });
  const table = [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');
  const missing = leftOut.length === 0 ? '' : ` Left out: ${leftOut.join(', ')}.`;
  await writeReadmePart('faults', `Run on ${new Date().toISOString().slice(0, 10)}.${missing}\n\n${table}`);
}
