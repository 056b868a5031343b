import { mkdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { areas } from '../src/config/config.ts';
import { installPackages } from './install-packages.ts';
import { startLocalInstance } from './local-instance.ts';
import { runScript } from './run-script.ts';
import { type ClientPackage, provePackage, releaseVersion } from './sdk/client-package.ts';
import { type Generator, generators, sdkFolder } from './sdk/generators.ts';
import { type OtherGenerator, otherGenerators } from './sdk/other-languages.ts';
import { type Proof, prove, steps, type Target } from './sdk/prove.ts';
import { installToolchains, lackingFor, proveOther } from './sdk/prove-other.ts';
import { pythonPackage } from './sdk/python-package.ts';
import { typescriptPackage } from './sdk/typescript-package.ts';

const usage = `Usage: npm run sdk [-- OPTION ...]

Lets code generators make clients of the documents, compiles a small program on each client under strict
settings, and runs it on a live service, which it starts itself in a folder of its own. The generators are installed
under test/sdk/.

Those for TypeScript come by npm and are run always. Those for other languages make a client of the events, by the
compilers of this machine; what needs a program that is not there is named as not run.

  --packages DIRECTORY
                     make the packages for TypeScript and Python too, install each as a partner does, run a program
                     with it, and leave them in this directory
  --all              those for other languages too
  --generator NAME   only this one; may be repeated:
                     ${generators.map(({ name }) => name).join(', ')},
                     ${otherGenerators.map(({ name }) => name).join(',\n                     ')}
  --help             show this text
`;

const options = {
  packages: { type: 'string' },
  all: { type: 'boolean', default: false },
  generator: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const say = (line: string) => process.stdout.write(`${line}\n`);

type Chosen = {
  readonly own: readonly Generator[];
  readonly others: readonly OtherGenerator[];
  readonly packages: readonly ClientPackage[];
  /** Where the packages go. */
  readonly out: string;
};

async function proveAll({ own, others, packages, out }: Chosen, target: Promise<Target>): Promise<Proof[]> {
  const queue = [
    // What takes longest begins first.
    ...packages.toReversed().map((each) => () => provePackage(each, out, target)),
    ...others.toReversed().map((generator) => () => proveOther(generator, target)),
    ...own.flatMap((generator) => areas.map((area) => () => prove(generator, area, target))),
  ];
  const proofs: Proof[] = [];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const started = performance.now();
      const proof = await next();
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

async function show({ own, others, packages }: Chosen, proofs: readonly Proof[]): Promise<void> {
  const table = new Table({ head: ['generator', 'area', ...steps], style: { head: [], border: [] } });
  const versions = new Map(others.map(({ name, version }) => [name, version]));
  for (const generator of own) versions.set(generator.name, await versionOf(generator));
  for (const { name } of packages) versions.set(name, await releaseVersion());
  for (const { generator, area, done } of proofs.toSorted((a, b) => a.generator.localeCompare(b.generator))) {
    const failedAt = steps.find((step) => !done.includes(step));
    const cells = steps.map((step) => {
      if (done.includes(step)) return 'yes';
      return step === failedAt ? 'FAILED' : '-';
    });
    table.push([`${generator} ${versions.get(generator)}`, area, ...cells]);
  }
  say(table.toString());
  for (const { generator, area, failure } of proofs) {
    if (failure !== undefined) say(`\n${generator} ${area}\n${failure.slice(-4_000)}`);
  }
}

/** The generators that can run here; says of the others why not. */
function runnable<T extends ClientPackage | OtherGenerator>(wanted: readonly T[]): T[] {
  const lackingOf = wanted.map((each) => [each, lackingFor(each)] as const);
  for (const [{ name }, lacking] of lackingOf) {
    if (lacking.length > 0) say(`Not run: ${name}, which needs ${lacking.join(' and ')}.`);
  }
  return lackingOf.filter(([, lacking]) => lacking.length === 0).map(([each]) => each);
}

/** The generators that the user named and that can run here. */
function choose(named: readonly string[], all: boolean, out: string | undefined): Chosen {
  const wanted = ({ name }: { readonly name: string }) => named.includes(name);
  return {
    own: generators.filter((each) => named.length === 0 || wanted(each)),
    others: runnable(otherGenerators.filter((each) => (named.length === 0 ? all : wanted(each)))),
    packages: out === undefined ? [] : runnable([typescriptPackage, pythonPackage]),
    out: resolve(out ?? ''),
  };
}

/** @returns the exit status */
async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const { generator: named = [] } = values;
  const known = [...generators, ...otherGenerators].map(({ name }) => name);
  const unknown = named.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown generator: ${unknown.join(', ')}. See --help.`);
  const chosen = choose(named, values.all, values.packages);
  await installPackages(sdkFolder);
  await installToolchains([...chosen.others, ...chosen.packages]);
  if (values.packages !== undefined) await mkdir(chosen.out, { recursive: true });
  const instance = startLocalInstance();
  const target = instance.then(({ credentials: { baseUrl, keys } }): Target => ({ baseUrl, key: keys.acme }));
  // The caller that waits for it reports its failure, which may come before anybody waits.
  target.catch(() => {});
  try {
    const proofs = await proveAll(chosen, target);
    await show(chosen, proofs);
    return proofs.every(({ failure }) => failure === undefined) ? 0 : 1;
  } finally {
    await (await instance).stop();
  }
}

await runScript(main);
