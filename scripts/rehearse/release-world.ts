import { getAddress, hexlify, randomBytes } from 'ethers';
import { chainId, confirmations } from '../bench/mint/bench-chain.ts';
import type { Company, World } from '../load/world.ts';
import { runProgram } from './run-program.ts';

type Options = {
  /** The folder with the files of the release whose commands make it. */
  readonly release: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly rpcUrl: string;
  readonly contract: string;
};

/** Runs a command of a release. @returns what it prints as JSON */
export async function runCommand(
  { release, settings }: Pick<Options, 'release' | 'settings'>,
  ...words: readonly string[]
): Promise<unknown> {
  const env = { PATH: process.env['PATH'], ...settings };
  const printed = await runProgram(process.execPath, ['src/cli.ts', '--json', ...words], {
    cwd: release,
    env,
  });
  return JSON.parse(printed);
}

/** Two companies with assets, on a network that mints and one that is hosted, made by the commands of a release. */
export async function createReleaseWorld(options: Options): Promise<World> {
  const { rpcUrl, contract } = options;
  const node = ['--symbol', 'ETH', '--rpc', rpcUrl];
  const local = [
    '--provider',
    'indexer',
    '--confirmations',
    String(confirmations),
    '--minter-contract',
    contract,
  ];
  await runCommand(options, 'network', 'add', chainId, '--name', 'Local', ...node, ...local);
  return { acme: await addCompany(options, 'acme'), globex: await addCompany(options, 'globex') };
}

async function addCompany(options: Options, name: string): Promise<Company> {
  const wallets = Array.from({ length: 10 }, newAddress);
  const add = (...words: readonly string[]) => runCommand(options, ...words);
  const id = textOf(await add('company', 'create', name), 'id');
  const key = textOf(await add('key', 'create', '--company', name), 'key');
  const what = ['--name', 'Cask', '--type', 'whisky', '--is-claimable', '--chain-id', chainId];
  const rwa = ['rwa', 'create', '--company', name, ...what, '--contract-address', options.contract];
  const rwas = [textOf(await add(...rwa), 'id')];
  return { id, name, key, otherKey: key, events: [], rwas, unclaimed: [], wallets };
}

function textOf(record: unknown, name: string): string {
  const found = Object.entries(record ?? {}).find(([field]) => field === name)?.[1];
  if (typeof found !== 'string') throw new Error(`A command printed no ${name}: ${JSON.stringify(record)}`);
  return found;
}

const newAddress = () => getAddress(hexlify(randomBytes(20)));
