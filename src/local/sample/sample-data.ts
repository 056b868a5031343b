import { findNetwork, insertNetwork, updateNetwork } from '../../chain/network-store.ts';
import type { Database } from '../../contract/transaction.ts';
import { insertCompany } from '../../keys/company-store.ts';
import { issueKey } from '../../keys/key-store.ts';
import type { ClaimSecretVault } from '../../rwa/assets/claim-secret.ts';
import { localChainId } from '../programs/chain.ts';
import { acmeAssets, addAssets, globexAssets } from './assets.ts';
import { acmeEvents, addEvents, globexEvents } from './events.ts';
import type { WorldChain } from './sample-chain.ts';

/** The API keys of the sample world, in plain text: they are good for this machine only. */
export type WorldKeys = { readonly acme: string; readonly globex: string; readonly noCompany: string };

export type WorldDataOptions = {
  readonly db: Database;
  readonly vault: ClaimSecretVault;
  readonly chain: WorldChain;
  readonly rpcUrl: string;
  readonly now: Date;
};

/**
 * Fills a migrated, empty database with the sample companies and their data. Each asset and event has a transaction
 * of its own, and so its own time of creation, which is the order of lists.
 */
export async function fillDatabase({ db, vault, chain, rpcUrl, now }: WorldDataOptions): Promise<WorldKeys> {
  const { cast, addresses } = chain;
  await addLocalNetwork(db, rpcUrl, addresses.TallystickNft);
  const acme = await addCompany(db, 'acme', 'Acme Casks', cast.acmeTreasury);
  const globex = await addCompany(db, 'globex', 'Globex', cast.globexTreasury);
  const asset = { chainId: localChainId, contractAddress: addresses.TallystickNft };
  await addAssets(db, vault, { companyId: acme.id, ...asset }, acmeAssets);
  await addAssets(db, vault, { companyId: globex.id, ...asset }, globexAssets);
  const event = { chainId: localChainId, gate: addresses.SampleCollectible };
  await addEvents(db, { companyId: acme.id, ...event }, acmeEvents, now);
  await addEvents(db, { companyId: globex.id, ...event }, globexEvents, now);
  const { key: noCompany } = await issueKey(db, 'local', {
    companyId: null,
    label: 'no company',
  });
  return { acme: acme.key, globex: globex.key, noCompany };
}

/** Updates the URL of the local chain in the register of networks. */
export async function moveNetwork(db: Database, rpcUrl: string): Promise<void> {
  const known = await findNetwork(db, localChainId);
  if (known?.rpcUrls.length === 1 && known.rpcUrls[0] !== rpcUrl) {
    await updateNetwork(db, localChainId, { rpcUrls: [rpcUrl] });
  }
}

async function addLocalNetwork(db: Database, rpcUrl: string, minterContract: string): Promise<void> {
  await insertNetwork(db, {
    chainId: localChainId,
    name: 'Local chain',
    currency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: [rpcUrl],
    dataProvider: 'indexer',
    confirmations: 1,
    finalityDepth: 1,
    minterContract,
    indexFrom: '0',
    wrappedNatives: [],
    nativeAsset: null,
    entryPoints: [],
    minTip: '0',
    explorerUrl: null,
    indexTraces: 'debug',
  });
}

async function addCompany(db: Database, name: string, displayName: string, treasuryAddress: string) {
  const { id } = await insertCompany(db, { name, displayName, treasuryAddress });
  const { key } = await issueKey(db, 'local', {
    companyId: id,
    label: `${name} sample key`,
  });
  return { id, key };
}
