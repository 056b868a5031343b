import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { callOf } from '../../../scripts/docs/samples/call.ts';
import { samplesOf } from '../../../scripts/docs/samples/samples.ts';
import { placeholders as here } from '../../../src/http/mounts/deployment.ts';
import { killAtExit } from '../../support/kill-at-exit.ts';
import { contract, makeThings, mintOne, operations, placeholders } from './sample-world.ts';
import { tools } from './tools.ts';

const programs = new URL('../../../openapi/portal/programs', import.meta.url).pathname;

let directory: string;
let minted: Awaited<ReturnType<typeof mintOne>>;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallystick-samples-'));
  minted = await mintOne();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What the start page tells a reader to set. */
function environment() {
  const { baseUrl, key } = inject('live');
  return { PATH: process.env['PATH'], TALLYSTICK: baseUrl, TALLYSTICK_KEY: key };
}

/** Runs a program, and gives what it writes. */
async function run(file: string, ...args: string[]): Promise<string> {
  const options = { cwd: directory, env: environment(), timeout: 60_000 };
  return (await promisify(execFile)(file, args, options)).stdout;
}

// As they stand, with one addition: that curl writes the status, as the others do by themselves.
const withStatus = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n`;

const end = '-- end of the sample --';

// A language starts once, and runs each sample as if it were the only one: as a module, or with variables of its own.
// Each file that is named on a line of the input is run, and then a line of the output ends what it wrote.
const runEach = {
  TypeScript: `
    for await (const file of (await import('node:readline')).createInterface(process.stdin)) {
      await import(file).catch((error) => console.log(error));
      console.log('${end}');
    }`,
  Python: `
import sys, traceback
for line in sys.stdin:
    try:
        exec(compile(open(line.strip()).read(), line.strip(), "exec"), {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc(file=sys.stdout)
    print("${end}", flush=True)`,
};

/** Gives what runs samples in one process of a language, which starts at the first. It gives what a sample writes. */
function startOnce(file: string, args: readonly string[], ending: string) {
  let child: ReturnType<typeof startLanguage> | undefined;
  let written = 0;
  afterAll(() => child?.process.stdin.end());
  return async (source: string): Promise<string> => {
    child ??= startLanguage(file, args);
    written += 1;
    const sample = join(directory, `sample-${written}.${ending}`);
    await writeFile(sample, source);
    child.process.stdin.write(`${sample}\n`);
    const lines: string[] = [];
    for (;;) {
      const { value, done } = await child.lines.next();
      if (done) throw new Error(`${file} ended: ${lines.join('\n')}`);
      if (value === end) return lines.join('\n');
      lines.push(value);
    }
  };
}

function startLanguage(file: string, args: readonly string[]) {
  const process = spawn(file, args, {
    cwd: directory,
    env: environment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  killAtExit(process);
  return { process, lines: createInterface(process.stdout)[Symbol.asyncIterator]() };
}

const begins = (status: number) => new RegExp(`^${status}\\b`);

const runners = {
  curl: {
    tool: tools.curl,
    run: (source: string) => run('sh', '-c', withStatus + source),
    shows: (status: number) => new RegExp(`(^|\\n)${status}$`),
  },
  TypeScript: {
    tool: process.execPath,
    run: startOnce(process.execPath, ['--input-type=module', '-e', runEach.TypeScript], 'mts'),
    shows: begins,
  },
  Python: {
    tool: tools.python3,
    run: startOnce('python3', ['-c', runEach.Python], 'py'),
    shows: begins,
  },
} as const;

// The id that the samples register, and that those need which remove it.
const attendee = 'user-7421';

describe.each(operations.map((operation) => [operation.operationId, operation] as const))(
  'the sample of %s gives the documented status',
  (operationId, operation) => {
    const { status } = callOf(operation);
    for (const { caption: label, source } of samplesOf(operation)) {
      const runner = runners[label];
      test.skipIf(runner.tool === undefined)(`in ${label}`, async () => {
        const things = await makeThings(operationId === 'addAttendee' ? [] : [attendee]);
        const own = placeholders(contract, things, minted).reduce(
          (text, [example, live]) => text.replaceAll(example, live),
          // A company has few endpoints of one host, and each sample makes one.
          source
            .replaceAll(here.baseUrl, inject('live').baseUrl)
            .replaceAll('partner.example', `${randomUUID()}.example`),
        );
        expect(await runner.run(own)).toMatch(runner.shows(status));
      });
    }
  },
);

describe('the programs of the guides', () => {
  const chosen = [
    ['.sh', 'sh', tools.curl],
    ['.ts', process.execPath, process.execPath],
    ['.py', 'python3', tools.python3],
  ] as const;

  // What each writes at its end.
  const ends: Readonly<Record<string, RegExp>> = {
    mint: /minted/,
    history: /\b\d{2,} transactions\n$/,
    door: /^offline: user-7421 undefined\nonline: admitted\n$/,
    repeat: /^[0-9a-f-]{36}\n$/,
    claim: /\nminted 0x[0-9a-f]{64}\n$/,
  };

  // Receivers do not end by themselves: `test/news/receivers.test.ts` runs them.
  for (const file of readdirSync(programs).filter((name) => !name.startsWith('receive.'))) {
    const [, name = '', ending] = /^(.+)(\.\w+)$/.exec(file) ?? [];
    const [, program = '', tool] = chosen.find(([known]) => known === ending) ?? [];
    test.skipIf(tool === undefined)(`${file} does what its guide says`, async () => {
      expect(ends[name]).toBeDefined();
      expect(await run(program, join(programs, file))).toMatch(ends[name] ?? /^$/);
    });
  }
});
