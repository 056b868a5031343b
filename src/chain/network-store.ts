import type { Knex } from 'knex';
import { type DataProviderName, hexChainId, type IndexTraces, isChainId, type Network } from './network.ts';

const table = 'networks';
const columns: (keyof Row)[] = [
  'chain_id',
  'name',
  'currency_name',
  'currency_symbol',
  'currency_decimals',
  'rpc_urls',
  'data_provider',
  'confirmations',
  'finality_depth',
  'minter_contract',
  'index_from',
  'index_traces',
  'wrapped_natives',
];

type Row = {
  chain_id: string; // bigint: pg reads it as text
  name: string;
  currency_name: string;
  currency_symbol: string;
  currency_decimals: number;
  rpc_urls: string[];
  data_provider: DataProviderName;
  confirmations: number;
  finality_depth: number;
  minter_contract: string | null;
  index_from: string; // bigint: pg reads it as text
  index_traces: IndexTraces;
  wrapped_natives: string[];
};

/** What the operator says of a network; the hex id is derived. */
export type NewNetwork = Omit<Network, 'hexChainId'>;
export type NetworkChanges = Partial<Omit<NewNetwork, 'chainId'>>;

export type NetworkStore = {
  /** All networks in the order of their ids. */
  list(): Promise<Network[]>;
  find(chainId: string): Promise<Network | undefined>;
  /** @returns the network, or undefined when its id is registered already */
  add(network: NewNetwork): Promise<Network | undefined>;
  /** Absent fields stay. @returns the changed network, or undefined when there is none of this id */
  update(chainId: string, changes: NetworkChanges): Promise<Network | undefined>;
  /** A network that events or RWAs name stays: `in_use`. */
  remove(chainId: string): Promise<'removed' | 'missing' | 'in_use'>;
};

/** The registered networks in the database. Processes are told of changes by a trigger. */
export function createNetworkStore({ db }: { db: Knex }): NetworkStore {
  return {
    async list() {
      const rows = await db<Row>(table).select(columns).orderBy('chain_id');
      return rows.map(toNetwork);
    },

    async find(chainId) {
      if (!isChainId(chainId)) return undefined;
      return first(await db<Row>(table).select(columns).where('chain_id', chainId));
    },

    async add(network) {
      const inserted = db<Row>(table).insert(toRow(network)).onConflict('chain_id').ignore();
      return first(await inserted.returning(columns));
    },

    async update(chainId, changes) {
      if (!isChainId(chainId)) return undefined;
      const changed = { ...toRow(changes), updated_at: db.fn.now() };
      return first(await db<Row>(table).where('chain_id', chainId).update(changed).returning(columns));
    },

    async remove(chainId) {
      if (!isChainId(chainId)) return 'missing';
      try {
        const count = await db<Row>(table).where('chain_id', chainId).delete();
        return count > 0 ? 'removed' : 'missing';
      } catch (error) {
        if (isForeignKeyViolation(error)) return 'in_use';
        throw error;
      }
    },
  };
}

function first(rows: Row[]): Network | undefined {
  const [row] = rows;
  return row === undefined ? undefined : toNetwork(row);
}

function toNetwork(row: Row): Network {
  return {
    chainId: row.chain_id,
    hexChainId: hexChainId(row.chain_id),
    name: row.name,
    currency: {
      name: row.currency_name,
      symbol: row.currency_symbol,
      decimals: row.currency_decimals,
    },
    rpcUrls: row.rpc_urls,
    dataProvider: row.data_provider,
    confirmations: row.confirmations,
    finalityDepth: row.finality_depth,
    minterContract: row.minter_contract,
    indexFrom: row.index_from,
    indexTraces: row.index_traces,
    wrappedNatives: row.wrapped_natives,
  };
}

// Fields that are absent are left out, so that an update keeps their columns.
function toRow(network: Partial<NewNetwork>): Partial<Row> {
  const values = {
    chain_id: network.chainId,
    name: network.name,
    currency_name: network.currency?.name,
    currency_symbol: network.currency?.symbol,
    currency_decimals: network.currency?.decimals,
    rpc_urls: network.rpcUrls,
    data_provider: network.dataProvider,
    confirmations: network.confirmations,
    finality_depth: network.finalityDepth,
    minter_contract: network.minterContract,
    index_from: network.indexFrom,
    index_traces: network.indexTraces,
    wrapped_natives: network.wrappedNatives,
  } satisfies { [Column in keyof Row]: Row[Column] | readonly string[] | undefined };
  // The entries are those of a row but for the absent ones.
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Row>;
}

function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503';
}
