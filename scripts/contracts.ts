import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Interface } from 'ethers';
import { compileSources, readSources } from './solidity.ts';

const usage = `Usage: node scripts/contracts.ts [--check]

Compiles the Solidity contracts of src/chain/contracts/ into its folder artefacts/, a file each with
the contract's ABI and bytecode.

  --check  write nothing; fail if a committed artefact differs from what would be written
  --help   show this text
`;

const folder = resolve(import.meta.dirname, '../src/chain/contracts');

/** The committed form of each contract, by its file: the ABI as people read it, which ethers reads too. */
function artefacts(): [file: string, text: string][] {
  const sources = readSources(folder);
  return [...compileSources(sources)]
    .filter(([name]) => `${name}.sol` in sources)
    .map(([name, { abi, bytecode }]) => [
      join(folder, 'artefacts', `${name}.json`),
      `${JSON.stringify({ name, abi: new Interface(abi).format(), bytecode }, null, 2)}\n`,
    ]);
}

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) {
  process.stdout.write(usage);
} else {
  for (const [file, current] of artefacts()) {
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
