import type { Database, Tx } from '../../../contract/transaction.ts';
import type { BlockHeader, IndexedBlock } from '../domain.ts';
import { type BlockRows, blockRows } from './block-rows.ts';
import { bytes, copyBulk, hex, insertBulk } from './bulk-store.ts';
import { IndexMovedError, rollBackTo } from './roll-back-store.ts';

export type TraceMethod = 'debug' | 'trace' | 'none';

/** How far the index of a network is. */
export type IndexState = {
  readonly chainId: string;
  readonly startBlock: bigint;
  /** The newest indexed block; undefined before the first. */
  readonly head: { readonly number: bigint; readonly hash: string; readonly time: Date } | undefined;
  /** Blocks up to here are never rolled back; -1 when none is. */
  readonly finalized: bigint;
  /** The node's newest block when it was last asked. */
  readonly nodeHead: bigint | undefined;
  /** How movements inside transactions are known; `none` says that they are not. */
  readonly internalTransfers: TraceMethod;
  /** Blocks that were indexed without them. */
  readonly untracedBlocks: bigint;
  readonly updatedAt: Date;
  /** Blocks indexed a second, not long ago; undefined while nothing was indexed. */
  readonly blocksPerSecond: number | undefined;
  /** Why the last try failed; undefined once one succeeded. */
  readonly lastError: { readonly message: string; readonly at: Date } | undefined;
};

export type IndexStore = {
  find(chainId: string): Promise<IndexState | undefined>;
  list(): Promise<IndexState[]>;
  /** Begins the index of a network, unless it has begun. @returns the state, old or new */
  begin(chainId: string, startBlock: bigint, internalTransfers: TraceMethod): Promise<IndexState>;
  /** What was seen of the node. */
  observe(chainId: string, seen: { readonly nodeHead: bigint; readonly finalized: bigint }): Promise<void>;
  /** Why the last try failed, or undefined after one that did not. */
  report(chainId: string, error: string | undefined): Promise<void>;
  /** The remembered blocks that may still be replaced, newest first. */
  recentBlocks(
    chainId: string,
    limit: number,
    below?: bigint,
  ): Promise<Pick<BlockHeader, 'number' | 'hash'>[]>;
  /**
   * Adds blocks that follow the head, all or nothing, and forgets which wallets final blocks touched.
   * @param head hash of the head that they follow; undefined before the first block
   * @param keepFrom what was final before the blocks were read
   * @throws IndexMovedError
   */
  append(
    chainId: string,
    head: string | undefined,
    blocks: readonly IndexedBlock[],
    keepFrom: bigint,
  ): Promise<void>;
  /**
   * Takes every block above `to` back, in one transaction.
   * @param to the newest block to keep; undefined takes back all
   * @throws IndexMovedError
   */
  rollBack(chainId: string, head: string, to: Pick<BlockHeader, 'number'> | undefined): Promise<void>;
};

type StateRow = {
  readonly chain_id: string;
  readonly start_block: string;
  readonly head_number: string | null;
  readonly head_hash: Buffer | null;
  readonly head_time: Date | null;
  readonly finalized_number: string;
  readonly node_head: string | null;
  readonly internal_transfers: TraceMethod;
  readonly untraced_blocks: string;
  readonly updated_at: Date;
  readonly blocks_per_second: number | null;
  readonly last_error: string | null;
  readonly last_error_at: Date | null;
};

/** The index of all networks: its progress, and the only place that writes its rows. */
export function createIndexStore({ db }: { readonly db: Database }): IndexStore {
  const states = () => db<StateRow>('index_state');
  return {
    async find(chainId) {
      const row = await states().where('chain_id', chainId).first();
      return row && toState(row);
    },

    async list() {
      return (await states().orderBy('chain_id')).map(toState);
    },

    async begin(chainId, startBlock, internalTransfers) {
      const { rows } = await db.raw<{ rows: [StateRow] }>(
        `INSERT INTO index_state (chain_id, start_block, internal_transfers) VALUES (?, ?, ?)
         ON CONFLICT (chain_id) DO UPDATE SET internal_transfers = excluded.internal_transfers RETURNING *`,
        [chainId, String(startBlock), internalTransfers],
      );
      return toState(rows[0]);
    },

    async observe(chainId, { nodeHead, finalized }) {
      const at = Date.now();
      await db.raw(
        `UPDATE index_state SET node_head = :nodeHead, finalized_number = greatest(finalized_number, :finalized),
           updated_at = now(), ${keepPace} WHERE chain_id = :chainId`,
        {
          ...{ nodeHead: String(nodeHead), finalized: String(finalized), chainId },
          ...{ at: new Date(at), justNow: new Date(at - 10_000), aMinuteAgo: new Date(at - 60_000) },
        },
      );
    },

    async report(chainId, error) {
      await states()
        .where('chain_id', chainId)
        .update({ last_error: error ?? null, last_error_at: error === undefined ? null : new Date() });
    },

    async recentBlocks(chainId, limit, below) {
      const query = db('index_blocks').where('chain_id', chainId).orderBy('number', 'desc').limit(limit);
      if (below !== undefined) query.where('number', '<', String(below));
      const rows: { number: string; hash: Buffer }[] = await query.select('number', 'hash');
      return rows.map(({ number, hash }) => ({ number: BigInt(number), hash: hex(hash) }));
    },

    async append(chainId, head, blocks, keepFrom) {
      const rows = blockRows(blocks, keepFrom);
      await db.transaction(async (tx) => {
        await moveHead(tx, chainId, head, blocks);
        await writeRows(tx, chainId, rows);
        // These blocks follow ours, so ours are of the node's branch, and the final ones among them for ever. The
        // last of those stays: whatever comes after it must follow it.
        await tx('index_blocks').where('chain_id', chainId).where('number', '<', String(keepFrom)).delete();
      });
    },

    rollBack: (chainId, head, to) => db.transaction((tx) => rollBackTo(tx, chainId, head, to)),
  };
}

// The pace is that of the last ten seconds or more; after a longer rest it is unknown until then. A cluster of
// Citus wants a CASE that is the same at all times and in all zones, so every moment comes with the question.
const keepPace = `blocks_per_second = CASE WHEN pace_since < :aMinuteAgo::timestamptz THEN NULL
    WHEN pace_since < :justNow::timestamptz
      THEN greatest(head_number - pace_from, 0) / extract(epoch FROM :at::timestamptz - pace_since)
    ELSE blocks_per_second END,
  pace_from = CASE WHEN pace_since > :justNow::timestamptz THEN pace_from ELSE head_number END,
  pace_since = CASE WHEN pace_since > :justNow::timestamptz THEN pace_since ELSE :at::timestamptz END`;

/** The condition on the old head fences off a second writer, should the lease ever fail. */
async function moveHead(
  tx: Tx,
  chainId: string,
  head: string | undefined,
  blocks: readonly IndexedBlock[],
): Promise<void> {
  const last = blocks.at(-1);
  if (last === undefined) return;
  const untraced = blocks.filter(({ traced }) => !traced).length;
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `UPDATE index_state SET head_number = ?, head_hash = ?::bytea, head_time = to_timestamp(?::float8),
       untraced_blocks = untraced_blocks + ?, updated_at = now()
     WHERE chain_id = ? AND head_hash IS NOT DISTINCT FROM ?::bytea`,
    [
      ...[String(last.header.number), bytes(last.header.hash), String(last.header.timestamp)],
      ...[untraced, chainId, head === undefined ? null : bytes(head)],
    ],
  );
  if (rowCount !== 1) throw new IndexMovedError(chainId);
}

// Log indexes are the node's word. Two of the same in one block must not stop the index for ever.
const onConflict: Partial<Record<keyof BlockRows, string>> = {
  nft_changes: 'ON CONFLICT DO NOTHING',
  index_skipped_logs: 'ON CONFLICT DO NOTHING',
  nft_holdings: `ON CONFLICT (chain_id, wallet, contract, token_id) DO UPDATE SET
      standard = excluded.standard,
      amount = CASE WHEN excluded.standard = 721 THEN excluded.amount
        ELSE nft_holdings.amount + excluded.amount END,
      acquired_block = coalesce(excluded.acquired_block, nft_holdings.acquired_block),
      acquired_log = coalesce(excluded.acquired_log, nft_holdings.acquired_log),
      changed_block = excluded.changed_block`,
  token_contracts: `ON CONFLICT (chain_id, contract) DO UPDATE SET standard = excluded.standard
      WHERE excluded.standard > token_contracts.standard`,
  // Changes come in flocks, and a token is asked for at most every ten minutes.
  nft_refreshes: `ON CONFLICT (chain_id, contract, token_id) DO UPDATE
      SET due = greatest(excluded.due, nft_refreshes.rests_until) WHERE nft_refreshes.due IS NULL`,
  nft_tokens: `ON CONFLICT (chain_id, contract, token_id) DO UPDATE
      SET minted_block = excluded.minted_block, minter = excluded.minter
      WHERE nft_tokens.minted_block IS NULL AND excluded.minted_block IS NOT NULL`,
};

async function writeRows(tx: Tx, chainId: string, rows: BlockRows): Promise<void> {
  const { index_blocks, wallet_history, ...others } = rows;
  await copyBulk(tx, 'wallet_history', chainId, wallet_history);
  for (const [table, columns] of Object.entries(others)) {
    await insertBulk(tx, table, chainId, columns, onConflict[table as keyof BlockRows]); // a key of rows
  }
  const { number, hash, parent_hash, block_time, wallets } = index_blocks;
  for (const index of number?.values.keys() ?? []) {
    const value = [number, hash, parent_hash, block_time, wallets].map(
      (column) => column?.values[index] ?? null,
    );
    await tx.raw(
      `INSERT INTO index_blocks (chain_id, number, hash, parent_hash, block_time, wallets)
       VALUES (?, ?, ?::bytea, ?::bytea, ?, ?::bytea[])`,
      [chainId, ...value],
    );
  }
}

function toState(row: StateRow): IndexState {
  const { head_number: number, head_hash: hash, head_time: time, last_error, last_error_at } = row;
  return {
    chainId: row.chain_id,
    startBlock: BigInt(row.start_block),
    head:
      number === null || hash === null || time === null
        ? undefined
        : { number: BigInt(number), hash: hex(hash), time },
    finalized: BigInt(row.finalized_number),
    nodeHead: row.node_head === null ? undefined : BigInt(row.node_head),
    internalTransfers: row.internal_transfers,
    untracedBlocks: BigInt(row.untraced_blocks),
    updatedAt: row.updated_at,
    blocksPerSecond: row.blocks_per_second ?? undefined,
    lastError:
      last_error === null || last_error_at === null ? undefined : { message: last_error, at: last_error_at },
  };
}
