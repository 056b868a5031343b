import type { Database } from '../contract/transaction.ts';
import {
  type DataProviderName,
  hexChainId,
  type IndexTraces,
  isChainId,
  type Network,
} from './rpc/client/network.ts';
import { addressOf, storeAddress } from './rpc/client/node-address.ts';

// A trigger of the table notifies all processes of every change.
const table = 'networks';
const columns: (keyof Row)[] = [
  'chain_id',
  'name',
  'currency_name',
  'currency_symbol',
  'currency_decimals',
  'rpc_urls',
  'rpc_sealed',
  'data_provider',
  'confirmations',
  'finality_depth',
  'min_tip',
  'minter_contract',
  'index_from',
  'index_traces',
  'wrapped_natives',
  'native_asset',
  'explorer_url',
];

type Row = {
  chain_id: string; // bigint: pg reads it as text
  name: string;
  currency_name: string;
  currency_symbol: string;
  currency_decimals: number;
  rpc_urls: string[];
  /** One for each URL; null in rows that have none. */
  rpc_sealed: (string | null)[] | null;
  data_provider: DataProviderName;
  confirmations: number;
  finality_depth: number;
  min_tip: string; // numeric: pg reads it as text
  minter_contract: string | null;
  index_from: string; // bigint: pg reads it as text
  index_traces: IndexTraces;
  wrapped_natives: string[];
  native_asset: string | null;
  explorer_url: string | null;
};

/** A network as the operator describes it; the hex id is derived. */
export type NewNetwork = Omit<Network, 'hexChainId'>;
export type NetworkChanges = Partial<Omit<NewNetwork, 'chainId'>>;

function fromRow(row: Row): Network {
  return {
    chainId: row.chain_id,
    hexChainId: hexChainId(row.chain_id),
    name: row.name,
    currency: {
      name: row.currency_name,
      symbol: row.currency_symbol,
      decimals: row.currency_decimals,
    },
    rpcUrls: row.rpc_urls.map((shown, index) =>
      addressOf({ shown, sealed: row.rpc_sealed?.[index] ?? null }),
    ),
    dataProvider: row.data_provider,
    confirmations: row.confirmations,
    finalityDepth: row.finality_depth,
    minTip: row.min_tip,
    minterContract: row.minter_contract,
    indexFrom: row.index_from,
    indexTraces: row.index_traces,
    wrappedNatives: row.wrapped_natives,
    nativeAsset: row.native_asset,
    explorerUrl: row.explorer_url,
  };
}

// Fields that are absent are left out, so that an update keeps their columns.
function toRow(network: Partial<NewNetwork>): Partial<Row> {
  const addresses = network.rpcUrls?.map(storeAddress);
  const values = {
    chain_id: network.chainId,
    name: network.name,
    currency_name: network.currency?.name,
    currency_symbol: network.currency?.symbol,
    currency_decimals: network.currency?.decimals,
    rpc_urls: addresses?.map(({ shown }) => shown),
    rpc_sealed: addresses?.map(({ sealed }) => sealed),
    data_provider: network.dataProvider,
    confirmations: network.confirmations,
    finality_depth: network.finalityDepth,
    min_tip: network.minTip,
    minter_contract: network.minterContract,
    index_from: network.indexFrom,
    index_traces: network.indexTraces,
    wrapped_natives: network.wrappedNatives,
    native_asset: network.nativeAsset,
    explorer_url: network.explorerUrl,
  } satisfies { [Column in keyof Row]: Row[Column] | readonly string[] | undefined };
  // The entries are columns of a row with their values.
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Row>;
}

/** All networks, sorted by chain id. */
export async function listNetworks(db: Database): Promise<Network[]> {
  const rows = await db<Row>(table).select(columns).orderBy('chain_id');
  return rows.map(fromRow);
}

/**
 * A network by its chain id.
 * @param chainId any text; only a decimal id without leading zeros finds a network
 */
export async function findNetwork(db: Database, chainId: string): Promise<Network | undefined> {
  if (!isChainId(chainId)) return undefined;
  const [row] = await db<Row>(table).select(columns).where('chain_id', chainId);
  return row && fromRow(row);
}

/**
 * Inserts a network.
 * @returns the network, or undefined when its chain id is registered already
 */
export async function insertNetwork(db: Database, network: NewNetwork): Promise<Network | undefined> {
  const insertion = db<Row>(table).insert(toRow(network)).onConflict('chain_id').ignore();
  const [row] = await insertion.returning(columns);
  return row && fromRow(row);
}

/**
 * Changes a network. Absent fields keep their values.
 * @returns the changed network, or undefined when no network has this chain id
 */
export async function updateNetwork(
  db: Database,
  chainId: string,
  changes: NetworkChanges,
): Promise<Network | undefined> {
  if (!isChainId(chainId)) return undefined;
  const values = { ...toRow(changes), updated_at: db.fn.now() };
  const [row] = await db<Row>(table).where('chain_id', chainId).update(values).returning(columns);
  return row && fromRow(row);
}

/**
 * Deletes a network.
 * @returns `in_use` when events or RWAs refer to the network, which then stays
 */
export async function deleteNetwork(
  db: Database,
  chainId: string,
): Promise<'deleted' | 'missing' | 'in_use'> {
  if (!isChainId(chainId)) return 'missing';
  try {
    const count = await db<Row>(table).where('chain_id', chainId).delete();
    return count > 0 ? 'deleted' : 'missing';
  } catch (error) {
    if (isForeignKeyViolation(error)) return 'in_use';
    throw error;
  }
}

function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503';
}
