import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { errorText } from '../src/base/thrown.ts';
import { type Area, areas, basePaths } from '../src/contract/documents.ts';
import { startLocalInstance } from './local-instance.ts';
import { runProgram } from './run-program.ts';
import { runScript } from './run-script.ts';

// One version, so that a run next year finds what a run today finds.
const release = '4.32.5';

const usage = `Usage: npm run schemathesis [-- OPTION ...]

Lets Schemathesis ${release} ask a live service, made for it, by all documents with all of its checks. It needs
Python 3.10 or later, and installs itself into dist/schemathesis. Without Python nothing is run, and it says so.

  --minutes COUNT    time for all documents together (default: 4)
  --seed NUMBER      repeats a run
  --required         fails where it cannot be run
  --help             show this text
`;

const options = {
  minutes: { type: 'string', default: '4' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  required: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'dist/schemathesis', release);
const program = join(folder, 'bin/schemathesis');
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Installs the program unless it is there. @returns why that could not be done; undefined when it is there */
async function install(): Promise<string | undefined> {
  if (existsSync(program)) return undefined;
  const limit = { timeoutMs: 300_000 };
  try {
    await runProgram('python3', ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))'], limit);
  } catch {
    return 'there is no Python 3.10 or later with its module venv';
  }
  say(`Installing Schemathesis ${release} …`);
  try {
    await runProgram('python3', ['-m', 'venv', '--clear', folder], limit);
    await runProgram(join(folder, 'bin/pip'), ['install', '--quiet', `schemathesis==${release}`], limit);
    return undefined;
  } catch (error) {
    return `it could not be installed: ${errorText(error)}`;
  }
}

type Asked = {
  readonly baseUrl: string;
  readonly key: string;
  readonly seed: string;
  readonly seconds: number;
};

/** Runs all of its phases on a document. @returns whether it had no finding */
async function ask(area: Area, { baseUrl, key, seed, seconds }: Asked): Promise<boolean> {
  const args = [
    ...['--config-file', join(root, `openapi/schemathesis/${area}.toml`), 'run'],
    join(root, `src/contract/generated/${area}.json`),
    ...['--url', `${baseUrl}${basePaths[area]}`, '--header', `x-api-key: ${key}`],
    ...['--continue-on-failure', '--seed', seed, '--max-time', String(seconds), '--no-color'],
  ];
  // It ends by itself; this is for a machine on which it does not.
  const child = spawn(program, args, { stdio: 'inherit', cwd: folder, timeout: (seconds + 120) * 1_000 });
  const { promise, resolve: setStatus, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', setStatus);
  return (await promise) === 0;
}

/** @returns the exit status */
async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error('--minutes is above 0. See --help.');
  const reason = await install();
  if (reason !== undefined) {
    say(`Schemathesis was not run: ${reason}.`);
    return values.required ? 1 : 0;
  }
  const { credentials, stop } = await startLocalInstance();
  try {
    const asked = { baseUrl: credentials.baseUrl, key: credentials.keys.acme, seed: values.seed };
    const found: Area[] = [];
    for (const area of areas) {
      const seconds = Math.ceil((minutes * 60) / areas.length);
      if (!(await ask(area, { ...asked, seconds }))) found.push(area);
    }
    say(
      found.length === 0 ? 'No finding.' : `Findings: ${found.join(', ')}. Again by --seed ${values.seed}.`,
    );
    return found.length === 0 ? 0 : 1;
  } finally {
    await stop();
  }
}

await runScript(main);
