import { globSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Interface, type InterfaceAbi } from 'ethers';

const usage = `Usage: node scripts/contracts.ts [--check]

Compiles the Solidity contracts of src/chain/contracts/ into its folder artefacts/, a file each with
the contract's ABI and bytecode.

  --check  write nothing; fail if a committed artefact differs from what would be written
  --help   show this text
`;

const root = resolve(import.meta.dirname, '..');
const sourceFolder = join(root, 'src/chain/contracts');
const artefactFolder = join(sourceFolder, 'artefacts');

type Compiled = {
  readonly abi: InterfaceAbi;
  readonly evm: { readonly bytecode: { readonly object: string } };
};
type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<Record<string, Readonly<Record<string, Compiled>>>>;
};
type Solc = {
  compile(
    input: string,
    callbacks: { import(path: string): { contents: string } | { error: string } },
  ): string;
};

const require = createRequire(import.meta.url);

/** Compiles sources, given by name. Imports are read from the installed packages. */
function compile(sources: Readonly<Record<string, { content: string }>>): Output {
  const solc: Solc = require('solc');
  const settings = {
    optimizer: { enabled: true, runs: 1_000 },
    evmVersion: 'cancun',
    // Without the hash of the sources' metadata: a changed comment changes no bytecode.
    metadata: { bytecodeHash: 'none' },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  };
  const answer = solc.compile(JSON.stringify({ language: 'Solidity', sources, settings }), {
    import: (path) => ({ contents: readFileSync(require.resolve(path), 'utf8') }),
  });
  const output: Output = JSON.parse(answer);
  const complaints = output.errors ?? [];
  if (complaints.length > 0) throw new Error(complaints.map((it) => it.formattedMessage).join('\n'));
  return output;
}

/** The committed form: the ABI as people read it, which ethers reads too. */
function artefact(name: string, { abi, evm }: Compiled): string {
  const content = { name, abi: new Interface(abi).format(), bytecode: `0x${evm.bytecode.object}` };
  return `${JSON.stringify(content, null, 2)}\n`;
}

async function artefacts(): Promise<Map<string, string>> {
  const files = globSync('*.sol', { cwd: sourceFolder }).toSorted();
  const contents = await Promise.all(files.map((file) => readFile(join(sourceFolder, file), 'utf8')));
  const sources = Object.fromEntries(files.map((file, i) => [file, { content: contents[i] ?? '' }]));
  const { contracts } = compile(sources);
  return new Map(
    files.map((file) => {
      const name = basename(file, '.sol');
      const compiled = contracts[file]?.[name];
      if (compiled === undefined) throw new Error(`${file} holds no contract of its name`);
      return [join(artefactFolder, `${name}.json`), artefact(name, compiled)];
    }),
  );
}

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) {
  process.stdout.write(usage);
} else {
  for (const [file, current] of await artefacts()) {
    const committed = await readFile(file, 'utf8').catch(() => undefined);
    if (committed === current) continue;
    if (values.check) {
      process.stderr.write(`${file} is not current. Remedy: node scripts/contracts.ts\n`);
      process.exitCode = 1;
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, current);
    }
  }
}
