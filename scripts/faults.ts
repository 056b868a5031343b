import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { errorText } from '../src/base/thrown.ts';
import { runServiceFaults } from './faults/service/command.ts';

const usage = `Usage: npm run faults -- [--minutes <n>] [--sequences <n>] [--seed <n>] [--only-random]
       npm run faults -- service --help

Lets everything go wrong that minting must survive, on a real chain and a real PostgreSQL: every named case,
then random sequences, one on each core, each in a process with a chain and a database of its own.

  --minutes    how long random sequences are begun, 1 by default
  --sequences  how many at most
  --seed       of the first sequence; the next has the next number. One sequence is repeated with
               --only-random --sequences 1 --seed <n>
  --only-random  leaves the named cases out

The last line is one JSON object with the total. A violation is named by its seed; the report, a line of JSON for
each sequence, keeps it with rows, attempts and what the chain says, next to what each process wrote.
`;

const random = 'test/minting/faults/random-faults.test.ts';

/** What one sequence did and met, a line of the report. */
type Sequence = {
  readonly seed: number;
  readonly nfts: number;
  readonly found: readonly string[];
  readonly reasons: readonly string[];
  /** The most questions to a node during a block. */
  readonly questions: number;
};

const vitestArgs = (files: readonly string[]) => [
  path.resolve('node_modules/vitest/vitest.mjs'),
  ...['run', '--config', 'test/vitest.config.ts', ...files],
];

function runNamed(): boolean {
  const files = globSync('test/minting/faults/*.test.ts').filter((file) => file !== random);
  const others = ['killed-worker', 'metadata-reports'].map((name) => `test/minting/${name}.test.ts`);
  const args = vitestArgs([...others, ...files]);
  const env = { ...process.env, FAULTS: 'all' };
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status === 0;
}

/** A whole number from 1 on. @throws Error that names the option */
function whole(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} takes a whole number from 1 on, not ${text}.`);
  return Number(text);
}

/** One process, which takes every nth seed. @returns whether it ended well */
function runSequences(folder: string, index: number, env: Readonly<Record<string, string>>) {
  const output = openSync(path.join(folder, `process-${index + 1}.log`), 'a');
  const child = spawn(process.execPath, vitestArgs([random]), {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env, FAULTS: 'all' },
  });
  // A signal that stops this process stops the others too. The total is then of the finished runs.
  process.once('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise<boolean>((resolve) => child.once('exit', (code) => resolve(code === 0)));
}

async function runMintingFaults(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1' },
      sequences: { type: 'string', default: '999999999' },
      seed: { type: 'string', default: String((Date.now() % 900_000_000) + 1) },
      'only-random': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return true;
  }
  const [seed, minutes] = [whole('seed', values.seed), whole('minutes', values.minutes)];
  const sequences = whole('sequences', values.sequences);
  const folder = mkdtempSync(path.join(tmpdir(), 'tallystick-faults-'));
  const report = path.join(folder, 'sequences');
  const namedPassed = values['only-random'] ? null : runNamed();
  const processes = Math.min(availableParallelism(), sequences);
  const ends = await Promise.all(
    Array.from({ length: processes }, (_, index) =>
      runSequences(folder, index, {
        FAULT_SECONDS: String(minutes * 60),
        FAULT_SEED: String(seed + index),
        FAULT_STRIDE: String(processes),
        FAULT_REPORT: report,
        // The first processes take the runs that cannot be shared out evenly.
        FAULT_SEQUENCES: String(Math.ceil((sequences - index) / processes)),
      }),
    ),
  );
  const lines = existsSync(report) ? readFileSync(report, 'utf8').trim().split('\n') : [];
  const done = lines.map((line): Sequence => JSON.parse(line));
  const total = {
    suite: 'faults',
    namedPassed,
    firstSeed: seed,
    sequences: done.length,
    nfts: done.reduce((sum, { nfts }) => sum + nfts, 0),
    mostQuestionsPerBlock: Math.max(0, ...done.map(({ questions }) => questions)),
    reasons: [...new Set(done.flatMap(({ reasons }) => reasons))].sort(),
    violations: done.flatMap(({ seed: of, found }) => (found.length > 0 ? [{ seed: of, found }] : [])),
    report,
  };
  process.stdout.write(`${JSON.stringify(total)}\n`);
  return namedPassed !== false && ends.every(Boolean) && total.violations.length === 0;
}

try {
  const [suite, ...rest] = process.argv.slice(2);
  const isService = suite === 'service' || suite === 'soak';
  process.exitCode = (await (isService ? runServiceFaults(rest, suite === 'soak') : runMintingFaults()))
    ? 0
    : 1;
} catch (error) {
  process.stderr.write(`${errorText(error)}\nnpm run faults -- --help\n`);
  process.exitCode = 2;
}
