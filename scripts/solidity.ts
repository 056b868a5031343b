import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { InterfaceAbi } from 'ethers';

export type CompiledContract = { readonly abi: InterfaceAbi; readonly bytecode: string };

type Output = {
  readonly errors?: readonly { readonly formattedMessage: string }[];
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly abi: InterfaceAbi; readonly evm: { bytecode: { object: string } } }>>
    >
  >;
};

const require = createRequire(import.meta.url);

const settings = {
  optimizer: { enabled: true, runs: 1_000 },
  evmVersion: 'cancun',
  // Without the hash of the sources' metadata: a changed comment changes no bytecode.
  metadata: { bytecodeHash: 'none' },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
};

export const readSources = (folder: string): Record<string, { content: string }> =>
  Object.fromEntries(
    globSync('*.sol', { cwd: folder })
      .toSorted()
      .map((file) => [file, { content: readFileSync(join(folder, file), 'utf8') }]),
  );

/**
 * Compiles sources. Imports are read from the installed packages.
 * @returns the contracts of each source, by name
 * @throws Error with everything that the compiler complains about
 */
export function compileSources(
  sources: Readonly<Record<string, { content: string }>>,
): Map<string, CompiledContract> {
  const solc: { compile(input: string, callbacks: object): string } = require('solc');
  const readImport = (path: string) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
  const input = JSON.stringify({ language: 'Solidity', sources, settings });
  const { errors = [], contracts }: Output = JSON.parse(solc.compile(input, { import: readImport }));
  if (errors.length > 0) throw new Error(errors.map((it) => it.formattedMessage).join('\n'));
  const own = Object.keys(sources).flatMap((file) => Object.entries(contracts[file] ?? {}));
  return new Map(own.map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }]));
}
