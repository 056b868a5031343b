import { getAddress, hexlify, randomBytes } from 'ethers';
import { insertNetwork } from '../../src/chain/network-store.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { insertCompany } from '../../src/keys/company-store.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { createClaimSecretVault } from '../../src/rwa/assets/claim-secret.ts';
import { issueNfts } from '../../src/rwa/assets/nft-issuer.ts';
import { createRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { parseRwaInput } from '../../src/rwa/operators/rwa-input.ts';
import { wallet as hostedWallet } from '../../test/support/moralis-payloads.ts';
import { chainId, confirmations } from '../bench/mint/bench-chain.ts';

export const worldKey = Buffer.alloc(32, 9);
export { hostedWallet };

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

type WorldOptions = {
  readonly rpcUrls: readonly string[];
  readonly contract: string;
  /** NFTs of each company that wait for their mint. */
  readonly unclaimed: number;
};

const hostedChainId = '1';
const vault = createClaimSecretVault(new Map([['load', worldKey]]));

/** Two companies with events, assets and NFTs, on a network that mints and one that is hosted. */
export async function createWorld(db: Database, options: WorldOptions): Promise<World> {
  await addNetworks(db, options);
  return {
    acme: await addCompany(db, 'acme', options),
    globex: await addCompany(db, 'globex', options),
  };
}

async function addNetworks(db: Database, { rpcUrls, contract }: WorldOptions): Promise<void> {
  const common = {
    currency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    confirmations,
    finalityDepth: 64,
    indexFrom: '0',
    indexTraces: 'none' as const,
    wrappedNatives: [],
    nativeAsset: null,
    explorerUrl: null,
    rpcUrls,
  };
  const local = { ...common, chainId, name: 'Local', dataProvider: 'indexer' as const };
  await insertNetwork(db, { ...local, minterContract: contract });
  const hosted = { ...common, chainId: hostedChainId, name: 'Hosted', dataProvider: 'moralis' as const };
  await insertNetwork(db, { ...hosted, minterContract: null });
}

async function addCompany(
  db: Database,
  name: string,
  { contract, unclaimed }: WorldOptions,
): Promise<Company> {
  const company = await insertCompany(db, { name, treasuryAddress: newAddress() });
  const { key } = await issueKey(db, 'live', { companyId: company.id, label: name });
  const other = await issueKey(db, 'live', { companyId: company.id, label: `${name}, other` });
  const rows = Array.from({ length: 30 }, (_, index) => ({
    company_id: company.id,
    name: `${name} fair ${index}`,
  }));
  const events: { id: string }[] = await db('events').insert(rows).returning('id');
  const rwas = [await addRwa(db, company.id, contract), await addRwa(db, company.id, contract)];
  const nfts: { id: string; secret: string }[] = [];
  for (const rwaId of rwas) {
    const count = Math.ceil(unclaimed / rwas.length);
    const made = await addNfts(db, { companyId: company.id, rwaId, count });
    nfts.push(...made.map(({ id, sealed }) => ({ id, secret: vault.open(id, sealed) })));
  }
  const wallets = Array.from({ length: 10 }, newAddress);
  return {
    id: company.id,
    name,
    key,
    otherKey: other.key,
    events: events.map(({ id }) => id),
    rwas,
    unclaimed: nfts,
    wallets,
  };
}

/** An asset whose NFTs are minted on this contract. @returns its id */
export async function addRwa(db: Database, companyId: string, contractAddress: string): Promise<string> {
  const wanted = {
    name: 'Cask',
    type: 'whisky',
    chainId: Number(chainId),
    contractAddress,
    isClaimable: true,
  };
  const input = parseRwaInput(wanted);
  if (!input.ok) throw new Error(JSON.stringify(input.errors));
  return (await createRwa(db, companyId, input.input)).id;
}

/** NFTs of an asset that nobody has asked to mint. */
export const addNfts = (db: Database, wanted: { companyId: string; rwaId: string; count: number }) =>
  db.transaction((tx) => issueNfts(tx, vault, wanted));

const newAddress = () => getAddress(hexlify(randomBytes(20)));
