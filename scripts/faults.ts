import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const usage = `Usage: npm run faults -- [--minutes <n>] [--sequences <n>] [--seed <n>] [--only-random]

Lets everything go wrong that minting must survive, on a real chain and a real PostgreSQL: every named case,
then random sequences.

  --minutes    how long random sequences are begun, 1 by default
  --sequences  how many at most
  --seed       of the first sequence; the next has the next number. One sequence is repeated with
               --only-random --sequences 1 --seed <n>
  --only-random  leaves the named cases out

The last line is one JSON object with the total. A violation is shown with rows, attempts and what the chain
says; the report, a line of JSON for each sequence, keeps it.
`;

const named = [
  'test/minting/killed-worker.test.ts',
  ...[
    'chain-faults',
    'database',
    'evidence',
    'evidence-refused',
    'history-limits',
    'limits',
    'lying-node',
    'odd-contracts',
    'older-mints',
    'pauses',
    'picky-contract',
    'question-bound',
    'workers',
  ].map((name) => `test/minting/faults/${name}.test.ts`),
];

type Sequence = { readonly seed: number; readonly nfts: number; readonly found: readonly string[] };

function run(files: readonly string[], env: Record<string, string> = {}): boolean {
  const vitest = path.resolve('node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--config', 'test/vitest.config.ts', ...files];
  const options = { stdio: 'inherit', env: { ...process.env, FAULTS: 'all', ...env } } as const;
  return spawnSync(process.execPath, args, options).status === 0;
}

function readReport(file: string): Sequence[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line): Sequence => JSON.parse(line));
}

/** A whole number from 1 on. @throws Error that names the option */
function whole(name: string, text: string): string {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} takes a whole number from 1 on, not ${text}.`);
  return text;
}

function runAll(): boolean {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1' },
      sequences: { type: 'string' },
      seed: { type: 'string', default: String((Date.now() % 900_000_000) + 1) },
      'only-random': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return true;
  }
  const seed = whole('seed', values.seed);
  const report = path.join(mkdtempSync(path.join(tmpdir(), 'tallystick-faults-')), 'sequences');
  const env = {
    FAULT_SECONDS: String(Number(whole('minutes', values.minutes)) * 60),
    FAULT_SEED: seed,
    FAULT_REPORT: report,
    ...(values.sequences && { FAULT_SEQUENCES: whole('sequences', values.sequences) }),
  };
  const namedPassed = values['only-random'] ? null : run(named);
  const randomPassed = run(['test/minting/faults/random-faults.test.ts'], env);
  const sequences = readReport(report);
  const wrong = sequences.filter(({ found }) => found.length > 0);
  const total = {
    suite: 'faults',
    namedPassed,
    sequences: sequences.length,
    firstSeed: Number(seed),
    nfts: sequences.reduce((sum, each) => sum + each.nfts, 0),
    violations: wrong.length,
    violatedSeeds: wrong.map((each) => each.seed),
    report,
  };
  process.stdout.write(`${JSON.stringify(total)}\n`);
  return namedPassed !== false && randomPassed;
}

try {
  process.exitCode = runAll() ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\nnpm run faults -- --help\n`);
  process.exitCode = 2;
}
