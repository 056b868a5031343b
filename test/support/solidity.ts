import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { InterfaceAbi } from 'ethers';

export type CompiledContract = { readonly abi: InterfaceAbi; readonly bytecode: string };

const directory = fileURLToPath(new URL('contracts/', import.meta.url));
const require = createRequire(import.meta.url);

/**
 * Compiles every contract of test/support/contracts. Compiling takes over a second, so the result is cached in
 * the temporary folder under the hash of its input.
 * @returns the contracts by name
 */
export async function compileContracts(): Promise<Readonly<Record<string, CompiledContract>>> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sol')).sort();
  const texts = await Promise.all(files.map((file) => readFile(path.join(directory, file), 'utf8')));
  const input = JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(files.map((file, index) => [file, { content: texts[index] }])),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  });
  const cached = path.join(
    tmpdir(),
    'tallystick-solidity',
    `${createHash('sha256').update(input).digest('hex')}.json`,
  );
  const text = await readFile(cached, 'utf8').catch(() => compileInto(cached, input));
  return JSON.parse(text);
}

async function compileInto(file: string, input: string): Promise<string> {
  const text = JSON.stringify(compile(input));
  await mkdir(path.dirname(file), { recursive: true });
  // Test files run side by side: a reader must never see half a file.
  const draft = `${file}.${process.pid}.${performance.now()}`;
  await writeFile(draft, text);
  await rename(draft, file);
  return text;
}

type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Record<
    string,
    Record<string, { abi: InterfaceAbi; evm: { bytecode: { object: string } } }>
  >;
};

function compile(input: string): Record<string, CompiledContract> {
  const solc: { compile(input: string, callbacks: object): string } = require('solc');
  const findImport = (name: string) => ({
    contents: require('node:fs').readFileSync(require.resolve(name), 'utf8'),
  });
  const output: Output = JSON.parse(solc.compile(input, { import: findImport }));
  const fault = output.errors?.find(({ severity }) => severity === 'error');
  if (fault !== undefined) throw new Error(fault.formattedMessage);
  const contracts = Object.values(output.contracts).flatMap((file) => Object.entries(file));
  return Object.fromEntries(
    contracts.map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }]),
  );
}
