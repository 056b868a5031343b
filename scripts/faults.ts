import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const usage = `Usage: npm run faults -- [--minutes <n>] [--seed <n>] [--only-random]

Lets everything go wrong that minting must survive, on a real chain and a real PostgreSQL: every named case,
then random sequences for as long as --minutes says (1 by default). A sequence is repeated with its seed.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    'only-random': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});

function run(files: readonly string[], env: Record<string, string> = {}): boolean {
  const vitest = path.resolve('node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--config', 'test/vitest.config.ts', ...files];
  return (
    spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, FAULTS: 'all', ...env } })
      .status === 0
  );
}

function runAll(): boolean {
  const report = path.join(mkdtempSync(path.join(tmpdir(), 'tallystick-faults-')), 'sequences');
  const named = ['killed-worker', 'lying-node', 'chain-faults', 'pauses', 'workers'];
  const namedPassed =
    values['only-random'] ||
    run(
      named.map((name) =>
        name === 'killed-worker' ? `test/minting/${name}.test.ts` : `test/minting/faults/${name}.test.ts`,
      ),
    );
  const randomPassed = run(['test/minting/faults/random-faults.test.ts'], {
    FAULT_SECONDS: String(Number(values.minutes) * 60),
    FAULT_REPORT: report,
    ...(values.seed && { FAULT_SEED: values.seed }),
  });
  const lines = existsSync(report) ? readFileSync(report, 'utf8').trim().split('\n') : [];
  const sequences: { seed: number; nfts: number; found: string[] }[] = lines.map((line) => JSON.parse(line));
  const wrong = sequences.filter(({ found }) => found.length > 0);
  const nfts = sequences.reduce((sum, each) => sum + each.nfts, 0);
  const seeds = sequences.map(({ seed }) => seed);
  process.stdout.write(
    `${JSON.stringify({ suite: 'faults', sequences: sequences.length, nfts, violations: wrong.length, firstSeed: seeds[0], report })}\n`,
  );
  return namedPassed && randomPassed;
}

if (values.help) process.stdout.write(usage);
else process.exitCode = runAll() ? 0 : 1;
