import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { callOf } from '../../../scripts/docs/samples/call.ts';
import { samplesOf } from '../../../scripts/docs/samples/samples.ts';
import { placeholders as here } from '../../../src/http/mounts/deployment.ts';
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

/** Runs a program with what the start page tells a reader to set, and gives what it writes. */
async function run(file: string, ...args: string[]): Promise<string> {
  const { baseUrl, key } = inject('live');
  const env = { PATH: process.env['PATH'], TALLYSTICK: baseUrl, TALLYSTICK_KEY: key };
  const { stdout } = await promisify(execFile)(file, args, { cwd: directory, env, timeout: 60_000 });
  return stdout;
}

// As they stand, with one addition: that curl writes the status, as the others do by themselves.
const withStatus = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n`;

let written = 0;
const runners = {
  curl: {
    tool: tools.curl,
    status: async (source: string) => (await run('sh', '-c', withStatus + source)).split('\n').at(-1),
  },
  TypeScript: {
    tool: process.execPath,
    status: async (source: string) => {
      written += 1;
      const file = join(directory, `sample-${written}.mts`);
      await writeFile(file, source);
      return (await run(process.execPath, file)).split(/\s/)[0];
    },
  },
  Python: {
    tool: tools.python3,
    status: async (source: string) => (await run('python3', '-c', source)).split(/\s/)[0],
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
          source.replaceAll(here.baseUrl, inject('live').baseUrl),
        );
        expect(await runner.status(own)).toBe(String(status));
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
