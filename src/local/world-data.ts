import { createNetworkStore } from '../chain/network-store.ts';
import type { Database, Tx } from '../contract/transaction.ts';
import { inTransaction } from '../db/transaction.ts';
import { createCompanyStore } from '../keys/company-store.ts';
import { createKeyStore } from '../keys/key-store.ts';
import type { ClaimSecretVault } from '../rwa/claim-secret.ts';
import { localChainId } from './chain.ts';
import { acmeAssets, addAssets, globexAssets } from './world-assets.ts';
import type { WorldChain } from './world-chain.ts';
import { acmeEvents, addEvents, globexEvents } from './world-events.ts';

/** The API keys of the sample world, in plain: they open nothing but this machine. */
export type WorldKeys = { readonly acme: string; readonly globex: string; readonly noCompany: string };

export type WorldDataOptions = {
  readonly db: Database;
  readonly vault: ClaimSecretVault;
  readonly chain: WorldChain;
  readonly rpcUrl: string;
  readonly now: Date;
};

/** Fills a migrated, empty database with the sample companies and what they have, in one transaction. */
export function fillDatabase({ db, vault, chain, rpcUrl, now }: WorldDataOptions): Promise<WorldKeys> {
  const { cast, addresses } = chain;
  return inTransaction(db, async (tx) => {
    await addLocalNetwork(tx, rpcUrl, addresses.TallystickNft);
    const acme = await addCompany(tx, 'acme', cast.acmeTreasury);
    const globex = await addCompany(tx, 'globex', cast.globexTreasury);
    const asset = { chainId: localChainId, contractAddress: addresses.TallystickNft };
    await addAssets(tx, vault, { companyId: acme.id, ...asset }, acmeAssets);
    await addAssets(tx, vault, { companyId: globex.id, ...asset }, globexAssets);
    const event = { chainId: localChainId, gate: addresses.SampleCollectible };
    await addEvents(tx, { companyId: acme.id, ...event }, acmeEvents, now);
    await addEvents(tx, { companyId: globex.id, ...event }, globexEvents, now);
    const { key: noCompany } = await createKeyStore({ db: tx }).create('local', {
      companyId: null,
      label: 'no company',
    });
    return { acme: acme.key, globex: globex.key, noCompany };
  });
}

/** Tells the service where the chain listens this time. */
export async function moveNetwork(db: Database, rpcUrl: string): Promise<void> {
  const networks = createNetworkStore({ db });
  const known = await networks.find(localChainId);
  if (known?.rpcUrls.length === 1 && known.rpcUrls[0] !== rpcUrl) {
    await networks.update(localChainId, { rpcUrls: [rpcUrl] });
  }
}

async function addLocalNetwork(tx: Tx, rpcUrl: string, minterContract: string): Promise<void> {
  await createNetworkStore({ db: tx }).add({
    chainId: localChainId,
    name: 'Local chain',
    currency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: [rpcUrl],
    dataProvider: 'indexer',
    confirmations: 1,
    finalityDepth: 1,
    minterContract,
  });
}

async function addCompany(tx: Tx, name: string, treasuryAddress: string) {
  const { id } = await createCompanyStore({ db: tx }).create({ name, treasuryAddress });
  const { key } = await createKeyStore({ db: tx }).create('local', {
    companyId: id,
    label: `${name} sample key`,
  });
  return { id, key };
}
