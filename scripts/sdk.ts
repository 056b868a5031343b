import { copyFile, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { areas } from '../src/config.ts';
import { startLocalInstance } from './local-instance.ts';
import { type Generator, generators, sdkFolder } from './sdk/generators.ts';
import { type Proof, prove, steps, type Target } from './sdk/prove.ts';
import { runNode } from './sdk/run-command.ts';

const usage = `Usage: npm run sdk [-- OPTION ...]

Lets code generators make clients of the three documents, compiles a small program on each client under strict
settings, and runs it on a live service. It starts that service itself, in a folder of its own, unless it is
given one. The generators are installed under test/sdk/.

  --generator NAME   only this one; may be repeated: ${generators.map(({ name }) => name).join(', ')}
  --base-url URL     a service that runs, such as http://localhost:3000; the programs create and delete an event
  --key KEY          an API key of it, of a company with an RWA
  --chain-id ID      a network of it (default: 31337)
  --wallet ADDRESS   a wallet on that network
  --help             show this text
`;

const options = {
  generator: { type: 'string', multiple: true },
  'base-url': { type: 'string' },
  key: { type: 'string' },
  'chain-id': { type: 'string', default: '31337' },
  wallet: { type: 'string', default: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Installs the generators, unless those of the lock file are there. */
async function install(): Promise<void> {
  const lock = join(sdkFolder, 'package-lock.json');
  const installed = join(sdkFolder, 'node_modules/.installed-lock.json');
  const read = (file: string) => readFile(file, 'utf8').catch(() => undefined);
  if ((await read(lock)) === (await read(installed))) return;
  say('Installing the generators …');
  const npm = process.env['npm_execpath'];
  if (npm === undefined) throw new Error('npm is needed for the generators. Remedy: run it as npm run sdk');
  const { ok, output } = await runNode({
    args: [npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
    cwd: sdkFolder,
  });
  if (!ok) throw new Error(`The generators could not be installed:\n${output}`);
  await copyFile(lock, installed);
}

async function proveAll(chosen: readonly Generator[], target: Promise<Target>): Promise<Proof[]> {
  const queue = chosen.flatMap((generator) => areas.map((area) => ({ generator, area })));
  const proofs: Proof[] = [];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const started = performance.now();
      const proof = await prove(next.generator, next.area, target);
      const seconds = ((performance.now() - started) / 1_000).toFixed(1).padStart(5);
      say(
        `${proof.failure === undefined ? 'ok    ' : 'FAILED'} ${seconds} s  ${proof.generator} ${proof.area}`,
      );
      proofs.push(proof);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return proofs;
}

async function versionOf(generator: Generator): Promise<string> {
  const file = join(sdkFolder, 'node_modules', generator.package, 'package.json');
  const { version }: { version: string } = JSON.parse(await readFile(file, 'utf8'));
  return version;
}

async function show(chosen: readonly Generator[], proofs: readonly Proof[]): Promise<void> {
  const table = new Table({ head: ['generator', 'area', ...steps], style: { head: [], border: [] } });
  for (const generator of chosen) {
    const name = `${generator.name} ${await versionOf(generator)}`;
    for (const area of areas) {
      const proof = proofs.find((each) => each.generator === generator.name && each.area === area);
      const failedAt = steps.find((step) => !proof?.done.includes(step));
      const cells = steps.map((step) => {
        if (proof?.done.includes(step)) return 'yes';
        return step === failedAt ? 'FAILED' : '-';
      });
      table.push([name, area, ...cells]);
    }
  }
  say(table.toString());
  for (const { generator, area, failure } of proofs) {
    if (failure !== undefined) say(`\n${generator} ${area}\n${failure.slice(-4_000)}`);
  }
}

/** @returns the exit status */
async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const { 'base-url': baseUrl, key, 'chain-id': chainId, wallet, generator: named = [] } = values;
  const unknown = named.filter((name) => !generators.some((each) => each.name === name));
  if (unknown.length > 0) throw new Error(`Unknown generator: ${unknown.join(', ')}. See --help.`);
  if ((baseUrl === undefined) !== (key === undefined)) {
    throw new Error('--base-url and --key are given together, or neither.');
  }
  const chosen = generators.filter(({ name }) => named.length === 0 || named.includes(name));
  await install();
  const instance = baseUrl === undefined ? startLocalInstance() : undefined;
  const target = async (): Promise<Target> => {
    const local = (await instance)?.credentials;
    return {
      baseUrl: (baseUrl ?? local?.baseUrl ?? '').replace(/\/$/, ''),
      key: key ?? local?.keys.acme ?? '',
      chainId,
      wallet,
    };
  };
  try {
    const proofs = await proveAll(chosen, target());
    await show(chosen, proofs);
    return proofs.every(({ failure }) => failure === undefined) ? 0 : 1;
  } finally {
    await (await instance)?.stop();
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
