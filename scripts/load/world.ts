import path from 'node:path';
import { getAddress, hexlify, randomBytes } from 'ethers';
import { chainId, confirmations } from '../bench/mint/bench-chain.ts';
import { runProgram } from '../run-program.ts';
import { deadlineMs } from './caller.ts';
import { until } from './until.ts';

const ring = `load:${Buffer.alloc(32, 9).toString('base64')}`;
export const worldKeys = { SECRET_KEYS: ring, CURSOR_KEYS: ring };
/** Flags of a chain on which a block is final once it has two above it. */
export const quickFinality = ['--slots-in-an-epoch', '1'];
export const thisRelease = path.join(import.meta.dirname, '../..');

export type Company = {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  /** Another key of the company, for callers who behave badly. */
  readonly otherKey: string;
  /** Events that stay, to which attendees are added. */
  readonly events: readonly string[];
  readonly rwas: readonly string[];
  /** NFTs that nobody has asked to mint; each is taken once. */
  readonly unclaimed: { readonly id: string; readonly secret: string }[];
  /** Wallets that mints go to. */
  readonly wallets: readonly string[];
};

export type World = { readonly acme: Company; readonly globex: Company };

/** Where commands of a release run. */
export type Place = {
  /** The folder with the files of the release. */
  readonly release: string;
  readonly settings: Readonly<Record<string, string>>;
};

/** Runs a command of a release. @returns what it prints as JSON */
export async function runCommand(
  { release, settings }: Place,
  ...words: readonly string[]
): Promise<unknown> {
  const env = { PATH: process.env['PATH'], ...settings };
  const options = { cwd: release, env };
  return JSON.parse(await runProgram(process.execPath, ['src/cli.ts', '--json', ...words], options));
}

/** Makes two companies with assets on a network that mints, by the commands of a release. */
export async function createWorld(
  place: Place,
  { rpcUrls, contract }: { readonly rpcUrls: readonly string[]; readonly contract: string },
): Promise<World> {
  const nodes = rpcUrls.flatMap((url) => ['--rpc', url]);
  const depth = ['--provider', 'indexer', '--confirmations', String(confirmations)];
  const local = ['--name', 'Local', '--symbol', 'ETH', ...nodes, ...depth, '--minter-contract', contract];
  await runCommand(place, 'network', 'add', chainId, ...local);
  const [acme, globex] = await Promise.all([
    addCompany(place, 'acme', contract),
    addCompany(place, 'globex', contract),
  ]);
  return { acme, globex };
}

async function addCompany(place: Place, name: string, contract: string): Promise<Company> {
  const make = async (field: string, ...words: readonly string[]) => {
    const record = Object.entries((await runCommand(place, ...words)) ?? {});
    const found = record.find(([name]) => name === field)?.[1];
    if (typeof found !== 'string') throw new Error(`${words.join(' ')} printed no ${field}.`);
    return found;
  };
  const id = await make('id', 'company', 'create', name);
  const key = await make('key', 'key', 'create', '--company', name);
  const otherKey = await make('key', 'key', 'create', '--company', name);
  // Release 0.1.0 knows this spelling only, and both releases make the world.
  const what = ['--name', 'Cask', '--type', 'whisky', '--is-claimable', '--chain-id', chainId];
  const rwa = ['rwa', 'create', '--company', name, ...what, '--contract-address', contract];
  const rwas = [await make('id', ...rwa), await make('id', ...rwa)];
  const wallets = Array.from({ length: 10 }, () => getAddress(hexlify(randomBytes(20))));
  return { id, name, key, otherKey, events: [], rwas, unclaimed: [], wallets };
}

type Made = { readonly id: string; readonly nfts: Company['unclaimed'] };

/** The company with events and NFTs, made over HTTP as soon as its wallets can be read. */
async function stock(port: number, company: Company): Promise<Company> {
  const headers = { 'x-api-key': company.key, 'content-type': 'application/json' };
  const ask = async (path: string, body?: object): Promise<{ status: number; body: Made }> => {
    const sent = body && { method: 'POST', body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(deadlineMs);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal, ...sent });
    return { status: answer.status, body: (await answer.json()) as Made }; // as the contract has it
  };
  const history = `/blockchain/v1/api/wallet/history?chainId=${chainId}&address=${company.wallets[0]}`;
  await until(async () => (await ask(history)).status === 200, 'no blocks in the index');
  const events: string[] = [];
  for (let index = 0; index < 20; index += 1)
    events.push((await ask('/events/v1/api/event', { name: `Fair ${index}` })).body.id);
  const unclaimed: Company['unclaimed'] = [];
  for (const rwa of company.rwas)
    unclaimed.push(...(await ask(`/v1/api/rwa/${rwa}/nfts`, { count: 100 })).body.nfts);
  return { ...company, events, unclaimed };
}

/** Both companies with what callers use. @param port where the service answers */
export async function stockWorld(port: number, { acme, globex }: World): Promise<World> {
  return { acme: await stock(port, acme), globex: await stock(port, globex) };
}
