import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  readSequences,
  reportOf,
  runSequences,
  type Sequence,
  vitestArgs,
  type Wanted,
} from './faults/sequences.ts';
import { runServiceFaults } from './faults/service/command.ts';

const usage = `Usage: npm run faults -- [--minutes <n>] [--sequences <n>] [--seed <n>]
         [--parallel <n>] [--with <parts>] [--only-random]
       npm run faults -- service --help

Lets everything go wrong that minting must survive, on a real chain and a real PostgreSQL: every named case,
then random sequences.

  --minutes    how long random sequences are begun, 1 by default
  --sequences  how many at most
  --seed       of the first sequence; the next has the next number. One sequence is repeated with
               --only-random --sequences 1 --seed <n>
  --parallel   sequences side by side, 2 by default, each in a process with a chain and a database of its own
  --with       also ingredients and demands whose parts of minting are not ready: names from
               test/minting/switches.ts with commas between them, or all
  --only-random  leaves the named cases out

The last line is one JSON object with the total. A violation is told by its seed; the report, a line of JSON for
each sequence, keeps it with rows, attempts and what the chain says, and what each process wrote stands beside it.
`;

const named = [
  'test/minting/killed-worker.test.ts',
  ...[
    'chain-faults',
    'database',
    'doubted-nonces',
    'evidence',
    'evidence-refused',
    'history-limits',
    'last-release',
    'leases',
    'limits',
    'lying-node',
    'node-pool',
    'odd-contracts',
    'older-mints',
    'past-search',
    'pauses',
    'picky-contract',
    'question-bound',
    'refused-broadcasts',
    'remedies',
    'restored-database',
    'shared-contract',
    'standstill',
    'steady-fees',
    'unusual-contracts',
    'workers',
  ].map((name) => `test/minting/faults/${name}.test.ts`),
];

function runNamed(): boolean {
  const options = { stdio: 'inherit', env: { ...process.env, FAULTS: 'all' } } as const;
  return spawnSync(process.execPath, vitestArgs(named), options).status === 0;
}

/** A whole number from 1 on. @throws Error that names the option */
function whole(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} takes a whole number from 1 on, not ${text}.`);
  return Number(text);
}

async function runAll(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1' },
      sequences: { type: 'string' },
      seed: { type: 'string', default: String((Date.now() % 900_000_000) + 1) },
      parallel: { type: 'string', default: '2' },
      with: { type: 'string', default: '' },
      'only-random': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return true;
  }
  const wanted: Wanted = {
    seed: whole('seed', values.seed),
    minutes: whole('minutes', values.minutes),
    sequences: values.sequences === undefined ? undefined : whole('sequences', values.sequences),
    parallel: whole('parallel', values.parallel),
    with: values.with,
    folder: mkdtempSync(path.join(tmpdir(), 'tallystick-faults-')),
  };
  const namedPassed = values['only-random'] ? null : runNamed();
  const begun = performance.now();
  const randomPassed = await runSequences(wanted);
  const minutes = (performance.now() - begun) / 60_000;
  const total = { suite: 'faults', namedPassed, ...totalOf(wanted, readSequences(wanted.folder), minutes) };
  process.stdout.write(`${JSON.stringify(total)}\n`);
  return namedPassed !== false && randomPassed;
}

function totalOf(wanted: Wanted, sequences: readonly Sequence[], minutes: number) {
  const wrong = sequences.filter(({ found }) => found.length > 0);
  const noted = sequences.filter((each) => each.noted.length > 0);
  return {
    sequences: sequences.length,
    firstSeed: wanted.seed,
    with: wanted.with,
    nfts: sequences.reduce((sum, each) => sum + each.nfts, 0),
    sequencesPerMinute: Number((sequences.length / minutes).toFixed(1)),
    mostQuestionsPerBlock: Math.max(0, ...sequences.map(({ questions }) => questions)),
    reasons: [...new Set(sequences.flatMap(({ reasons }) => reasons))].sort(),
    violations: wrong.length,
    violatedSeeds: wrong.map(({ seed }) => seed),
    notedSeeds: noted.map(({ seed }) => seed),
    report: reportOf(wanted.folder),
  };
}

try {
  const [suite, ...rest] = process.argv.slice(2);
  const isService = suite === 'service' || suite === 'soak';
  process.exitCode = (await (isService ? runServiceFaults(rest, suite === 'soak') : runAll())) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\nnpm run faults -- --help\n`);
  process.exitCode = 2;
}
