import { parseArgs } from 'node:util';
import { errorText } from '../src/base/thrown.ts';
import type { LifeLine } from '../test/minting/lives/run.ts';
import { runMutants, tableOf } from './lives/mutants.ts';
import { runLives, shareSeeds, tellLife } from './lives/run-lives.ts';

const usage = `Usage: npm run lives -- [--count <n>] [--seed <n>] [--twice]
       npm run lives -- --mutants [--only <name,...>] [--count <n>] [--seed <n>]

Lives of mint lanes in a simulated world. A seed decides everything that happens in a life, and gives the same log each time.

  --seed   lives this life, and writes its log; with --count, the seed of the first
  --count  lives so many, with the seeds from --seed on, 1 by default
  --twice  lives each of them in two processes, and compares their logs
  --mutants  lives with each fault of test/minting/lives/mutants until a life finds it, --count times at most; --only names some

The last line is one JSON object with the total. A life that goes wrong is written with its seed, and with the log of the
shortest life found that goes wrong, too. docs/contributing/lives.md says more.
`;

/** A whole number from 1 on. @throws Error that names the option */
function whole(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} takes a whole number from 1 on, not ${text}.`);
  return Number(text);
}

function show(line: LifeLine): void {
  if (line.found.length === 0) return;
  const { plan, log } = line.shrunk ?? {};
  process.stdout.write(`seed ${line.seed}: ${line.found.join('; ')}\n`);
  if (plan !== undefined) process.stdout.write(`${JSON.stringify(plan)}\n${log?.join('\n')}\n`);
}

async function liveAll(first: number, count: number, isTwice: boolean): Promise<boolean> {
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  // The second process has lived other lives before.
  const shares = isTwice ? [seeds, seeds.toReversed()] : shareSeeds(first, count);
  const begun = performance.now();
  const lines: LifeLine[] = [];
  const differ: number[] = [];
  const digests = new Map<number, string>();
  const onLine = (line: LifeLine) => {
    const other = digests.get(line.seed);
    digests.set(line.seed, line.digest);
    if (other !== undefined && other !== line.digest) differ.push(line.seed);
    if (other !== undefined) return;
    lines.push(line);
    show(line);
  };
  const cpuMs: number[] = [];
  const work = shares.map((share, at) =>
    runLives(
      { seeds: share, isShrinking: true },
      {
        onLine(line) {
          cpuMs[at] = line.cpuMs;
          onLine(line);
        },
      },
    ),
  );
  const ends = await Promise.all(work);
  const lived = ends.reduce((sum, count) => sum + count, 0);
  const wrong = lines.filter(({ found }) => found.length > 0).map(({ seed }) => seed);
  const total = {
    suite: 'lives',
    firstSeed: first,
    lives: lines.length,
    nfts: lines.reduce((sum, { nfts }) => sum + nfts, 0),
    simulatedHours: Math.round(lines.reduce((sum, { seconds }) => sum + seconds, 0) / 3_600),
    seconds: Math.round((performance.now() - begun) / 1_000),
    cpuMsPerLife: Math.round(cpuMs.reduce((sum, each) => sum + each, 0) / Math.max(1, lived)),
    reasons: [...new Set(lines.flatMap(({ reasons }) => reasons))].sort(),
    wrong: wrong.sort((one, other) => one - other),
    ...(isTwice && { differ }),
  };
  process.stdout.write(`${JSON.stringify(total)}\n`);
  const isWhole = ends.every((count, at) => count === shares[at]?.length);
  return isWhole && wrong.length + differ.length === 0;
}

async function liveWithMutants(first: number, count: number, only: readonly string[]): Promise<boolean> {
  const outcomes = await runMutants(first, count, only, (outcome) =>
    process.stdout.write(`${JSON.stringify(outcome)}\n`),
  );
  const seeds = [...new Set(outcomes.flatMap(({ seed }) => seed ?? []))];
  // A life that goes wrong without a mutant, too, has found nothing.
  const faulty: number[] = [];
  const onLine = ({ seed, found }: LifeLine) => void (found.length > 0 && faulty.push(seed));
  await runLives({ seeds, isFirstEnough: true }, { onLine });
  const missed = outcomes.flatMap(({ mutant, seed }) => (seed === null ? mutant : []));
  const total = { suite: 'mutants', firstSeed: first, mutants: outcomes.length, missed, faulty };
  process.stdout.write(`${tableOf(outcomes)}\n${JSON.stringify(total)}\n`);
  return outcomes.length > 0 && missed.length + faulty.length === 0;
}

try {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      count: { type: 'string' },
      twice: { type: 'boolean', default: false },
      mutants: { type: 'boolean', default: false },
      only: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const seed = whole('seed', values.seed ?? '1');
  const isTold = values.count === undefined && values.seed !== undefined && !values.mutants;
  const count = () => whole('count', values.count ?? '100');
  const act = () => {
    if (isTold) return tellLife(seed);
    if (values.mutants) return liveWithMutants(seed, count(), values.only?.split(',') ?? []);
    return liveAll(seed, count(), values.twice);
  };
  if (values.help) process.stdout.write(usage);
  else process.exitCode = (await act()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${errorText(error)}\nnpm run lives -- --help\n`);
  process.exitCode = 2;
}
