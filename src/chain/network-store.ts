import { errorCode } from '../base/thrown.ts';
import type { Database } from '../contract/transaction.ts';
import { hexChainId, isChainId, type Network } from './rpc/client/network.ts';
import { addressOf, storeAddress } from './rpc/client/node-address.ts';

// A trigger of the table notifies all processes of every change.
const table = 'networks';

type Row = Omit<Network, 'hexChainId' | 'currency' | 'rpcUrls'> & {
  readonly currencyName: string;
  readonly currencySymbol: string;
  readonly currencyDecimals: number;
  readonly shownUrls: readonly string[];
  /** One for each URL; null in rows that have none. */
  readonly sealedUrls: readonly (string | null)[] | null;
};

const columns: Readonly<Record<keyof Row, string>> = {
  chainId: 'chain_id',
  name: 'name',
  currencyName: 'currency_name',
  currencySymbol: 'currency_symbol',
  currencyDecimals: 'currency_decimals',
  shownUrls: 'rpc_urls',
  sealedUrls: 'rpc_sealed',
  dataProvider: 'data_provider',
  confirmations: 'confirmations',
  finalityDepth: 'finality_depth',
  minTip: 'min_tip',
  minterContract: 'minter_contract',
  indexFrom: 'index_from',
  indexTraces: 'index_traces',
  wrappedNatives: 'wrapped_natives',
  nativeAsset: 'native_asset',
  entryPoints: 'entry_points',
  explorerUrl: 'explorer_url',
};
const aliases = Object.entries(columns).map(([field, column]) => `${column} as ${field}`);

/** A network as the operator describes it; the hex id is derived. */
export type NewNetwork = Omit<Network, 'hexChainId'>;
export type NetworkChanges = Partial<Omit<NewNetwork, 'chainId'>>;

function fromRow({
  currencyName,
  currencySymbol,
  currencyDecimals,
  shownUrls,
  sealedUrls,
  ...row
}: Row): Network {
  return {
    ...row,
    hexChainId: hexChainId(row.chainId),
    currency: { name: currencyName, symbol: currencySymbol, decimals: currencyDecimals },
    rpcUrls: shownUrls.map((shown, index) => addressOf({ shown, sealed: sealedUrls?.[index] ?? null })),
  };
}

// Fields that are absent are left out, so that an update keeps their columns.
function toColumns({ currency, rpcUrls, ...same }: Partial<NewNetwork>): Readonly<Record<string, unknown>> {
  const addresses = rpcUrls?.map(storeAddress);
  const row: { readonly [Field in keyof Row]?: Row[Field] | undefined } = {
    ...same,
    currencyName: currency?.name,
    currencySymbol: currency?.symbol,
    currencyDecimals: currency?.decimals,
    shownUrls: addresses?.map(({ shown }) => shown),
    sealedUrls: addresses?.map(({ sealed }) => sealed),
  };
  const fields = Object.keys(columns) as (keyof Row)[]; // its own keys
  return Object.fromEntries(
    fields.flatMap((field) => (row[field] === undefined ? [] : [[columns[field], row[field]]])),
  );
}

/** All networks, sorted by chain id. */
export async function listNetworks(db: Database): Promise<Network[]> {
  const rows: Row[] = await db(table).select(aliases).orderBy('chain_id');
  return rows.map(fromRow);
}

/**
 * A network by its chain id.
 * @param chainId any text; only a decimal id without leading zeros finds a network
 */
export async function findNetwork(db: Database, chainId: string): Promise<Network | undefined> {
  if (!isChainId(chainId)) return undefined;
  const [row]: Row[] = await db(table).select(aliases).where('chain_id', chainId);
  return row && fromRow(row);
}

/**
 * Inserts a network.
 * @returns the network, or undefined when its chain id is registered already
 */
export async function insertNetwork(db: Database, network: NewNetwork): Promise<Network | undefined> {
  const insertion = db(table).insert(toColumns(network)).onConflict('chain_id').ignore();
  const [row]: Row[] = await insertion.returning(aliases);
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
  const values = { ...toColumns(changes), updated_at: db.fn.now() };
  const [row]: Row[] = await db(table).where('chain_id', chainId).update(values).returning(aliases);
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
    const count = await db(table).where('chain_id', chainId).delete();
    return count > 0 ? 'deleted' : 'missing';
  } catch (error) {
    if (isForeignKeyViolation(error)) return 'in_use';
    throw error;
  }
}

function isForeignKeyViolation(error: unknown): boolean {
  return errorCode(error) === '23503';
}
