import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type { Growth } from './soak/growth.ts';
import { runSoak, type SoakOutcome } from './soak/run-soak.ts';

const usage = `Usage: npm run soak -- [--minutes <n>] [--rate <n>] [--seed <n>] [--keep]

Lets two companies use the whole service for a while, with a fault now and then, and looks at what each process holds in
the quiet between: memory, descriptors, timers, sockets and listeners may be a little more than at first, memory a tenth and 20 MB; each
process must tell of them, and every request must be served. At the end nothing may be lost, every fault must be seen to have happened, every
counter and every mint must be true, and the processes must be those of the beginning.

  --minutes  how long, 5 by default
  --rate     requests a second, 20 by default
  --seed     which fault is the first, by default the number of the day: a short run does not reach all of them, runs on
             some days do
  --keep     keep the folder with the logs of all processes

The last line is one JSON object.
`;

function tableOf(growth: readonly Growth[]): string {
  const table = new Table({
    head: ['Process', 'What', 'At first', 'At last', 'At most', ''],
    style: { head: [], border: [] },
  });
  table.push(
    ...growth.map(({ process: name, quantity, first, last, most, isWithin }) => [
      ...[name, quantity, String(first), String(last), String(most)],
      isWithin ? '' : 'grows',
    ]),
  );
  return table.toString();
}

/** A number from 1 on. @throws Error that names the option */
function whole(name: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`--${name} takes a whole number from 1 on, not ${text}.`);
  return Number(text);
}

const dayMs = 86_400_000;

async function soak(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      rate: { type: 'string', default: '20' },
      seed: { type: 'string', default: String(Math.floor(Date.now() / dayMs)) },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return true;
  }
  // Stopped half-way it takes everything along that it has started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const folder = mkdtempSync(path.join(tmpdir(), 'tallystick-soak-'));
  const options = {
    folder,
    minutes: whole('minutes', values.minutes),
    perSecond: whole('rate', values.rate),
    seed: whole('seed', values.seed),
  };
  const outcome: SoakOutcome = await runSoak(options);
  process.stdout.write(`${tableOf(outcome.growth)}\n`);
  for (const violation of outcome.violations) process.stdout.write(`${violation}\n`);
  if (values.keep) process.stdout.write(`The logs are in ${folder}\n`);
  else rmSync(folder, { recursive: true, force: true });
  process.stdout.write(
    `${JSON.stringify({ suite: 'soak', ok: outcome.violations.length === 0, ...outcome })}\n`,
  );
  return outcome.violations.length === 0;
}

try {
  process.exitCode = (await soak()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\nnpm run soak -- --help\n`);
  process.exitCode = 2;
}
