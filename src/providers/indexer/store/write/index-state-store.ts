import { safeJsonText } from '../../../../base/json/safe-json.ts';
import type { Database } from '../../../../contract/transaction.ts';
import { hex } from '../rows/bulk-store.ts';

const table = 'index_state';

/** Why the last step of an index failed; on the coordinator of a cluster only. */
const errors = 'index_errors';

/** The source of the value that moves inside transactions; `none`: it is not known. */
export type TraceMethod = 'debug' | 'trace' | 'none';

/** The progress of the index of one network. */
export type IndexProgress = {
  readonly chainId: string;
  readonly startBlock: bigint;
  /** The newest indexed block; undefined before the first. */
  readonly head: { readonly number: bigint; readonly hash: string; readonly time: Date } | undefined;
  /** Blocks up to this one are never rolled back; -1 when there is none. */
  readonly finalized: bigint;
  /** The node's newest block at the last poll. */
  readonly nodeHead: bigint | undefined;
  /** How the index reads value that moves inside transactions. */
  readonly internalTransfers: TraceMethod;
  /** Number of blocks that were indexed without such value. */
  readonly untracedBlocks: bigint;
  /** Number of transactions that have no receipt on the network. */
  readonly withoutReceipt: bigint;
  /** Number of blocks whose receipts lack logs that their bloom filters promise. */
  readonly incompleteBlocks: bigint;
  /** When the node last answered. */
  readonly updatedAt: Date;
  /** When the node last had a block that the index lacked; undefined while that is not known. */
  readonly newBlockAt: Date | undefined;
  /** Indexed blocks per second, recently; undefined while nothing was indexed. */
  readonly blocksPerSecond: number | undefined;
  /** Why the index is stuck until somebody does something. */
  readonly stuck:
    | { readonly block: bigint | undefined; readonly reason: string; readonly since: Date }
    | undefined;
};

export type IndexState = IndexProgress & {
  /** Why the last step failed; undefined once a step has succeeded. */
  readonly lastError: { readonly message: string; readonly at: Date } | undefined;
};

// Numbers of blocks are bigint columns, which pg reads as text.
type Row = {
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
  readonly new_block_at: Date | null;
  readonly blocks_per_second: number | null;
  readonly without_receipt: string;
  readonly incomplete_blocks: string;
  readonly stuck_at: string | null;
  readonly stuck_reason: string | null;
  readonly stuck_since: Date | null;
};

type StateRow = Row & { readonly message: string | null; readonly happened_at: Date | null };

function toState(row: StateRow): IndexState {
  const { message, happened_at: at } = row;
  return { ...toProgress(row), lastError: message === null || at === null ? undefined : { message, at } };
}

function toProgress(row: Row): IndexProgress {
  const { head_number: number, head_hash: hash, head_time: time } = row;
  const { stuck_at, stuck_reason, stuck_since } = row;
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
    withoutReceipt: BigInt(row.without_receipt),
    incompleteBlocks: BigInt(row.incomplete_blocks),
    updatedAt: row.updated_at,
    newBlockAt: row.new_block_at ?? undefined,
    blocksPerSecond: row.blocks_per_second ?? undefined,
    stuck:
      stuck_reason === null || stuck_since === null
        ? undefined
        : {
            block: stuck_at === null ? undefined : BigInt(stuck_at),
            reason: stuck_reason,
            since: stuck_since,
          },
  };
}

/** @returns the state of a network's index; undefined when the index has not begun */
export async function findIndexState(db: Database, chainId: string): Promise<IndexState | undefined> {
  const [row] = await withErrors(db).where(`${table}.chain_id`, chainId);
  return row && toState(row);
}

/** Every index that has begun, in the order of the chain ids; also of networks that are no longer registered. */
export async function listIndexStates(db: Database): Promise<IndexState[]> {
  return (await withErrors(db).orderBy(`${table}.chain_id`)).map(toState);
}

const withErrors = (db: Database) =>
  db<StateRow>(table)
    .leftJoin(errors, `${errors}.chain_id`, `${table}.chain_id`)
    .select<StateRow[]>(`${table}.*`, 'message', 'happened_at');

/**
 * Begins the index of a network, unless it has begun; then only the trace method changes.
 * @returns the state after it
 */
export async function beginIndex(
  db: Database,
  chainId: string,
  startBlock: bigint,
  internalTransfers: TraceMethod,
): Promise<IndexProgress> {
  const { rows } = await db.raw<{ rows: [Row] }>(
    `INSERT INTO index_state (chain_id, start_block, internal_transfers) VALUES (?, ?, ?)
     ON CONFLICT (chain_id) DO UPDATE SET internal_transfers = excluded.internal_transfers
     RETURNING *`,
    [chainId, String(startBlock), internalTransfers],
  );
  return toProgress(rows[0]);
}

// The pace is of the last ten seconds or more. After a longer rest it is unknown until then. Citus wants a CASE whose
// value does not depend on the time or the time zone, so every moment is a parameter.
const updatePace = `blocks_per_second = CASE WHEN pace_since < :aMinuteAgo::timestamptz THEN NULL
    WHEN pace_since < :justNow::timestamptz
      THEN greatest(head_number - pace_from, 0) / extract(epoch FROM :at::timestamptz - pace_since)
    ELSE blocks_per_second END,
  pace_from = CASE WHEN pace_since > :justNow::timestamptz THEN pace_from ELSE head_number END,
  pace_since = CASE WHEN pace_since > :justNow::timestamptz THEN pace_since ELSE :at::timestamptz END`;

// From the first question on, so that an index of an earlier release does not seem to have waited for ever.
const updateNewBlock = `new_block_at = CASE WHEN new_block_at IS NULL
    OR :nodeHead > coalesce(head_number, start_block - 1) THEN :at::timestamptz ELSE new_block_at END`;

/**
 * Records what the node reported of its chain. The finalized block never goes back.
 * @returns the hash of the newest indexed block, null before the first; undefined where somebody deleted the index
 */
export async function recordNodeState(
  db: Database,
  chainId: string,
  { nodeHead, finalized }: { readonly nodeHead: bigint; readonly finalized: bigint },
): Promise<string | null | undefined> {
  const at = Date.now();
  const { rows } = await db.raw<{ rows: { head_hash: Buffer | null }[] }>(
    `UPDATE index_state SET node_head = :nodeHead, finalized_number = greatest(finalized_number, :finalized),
       updated_at = now(), ${updateNewBlock}, ${updatePace} WHERE chain_id = :chainId RETURNING head_hash`,
    {
      nodeHead: String(nodeHead),
      finalized: String(finalized),
      chainId,
      at: new Date(at),
      justNow: new Date(at - 10_000),
      aMinuteAgo: new Date(at - 60_000),
    },
  );
  const [row] = rows;
  return row && (row.head_hash === null ? null : hex(row.head_hash));
}

/** Records why the last step failed. @param error undefined after a step that succeeded */
export async function recordIndexError(
  db: Database,
  chainId: string,
  error: string | undefined,
): Promise<void> {
  const message = storable(error);
  if (message === null) await db(errors).where('chain_id', chainId).delete();
  else
    await db(errors)
      .insert({ chain_id: chainId, message, happened_at: new Date() })
      .onConflict('chain_id')
      .merge();
}

/** Records that the index is stuck, and why. @param stuck undefined once it goes on */
export async function recordStandstill(
  db: Database,
  chainId: string,
  stuck: { readonly block: bigint | undefined; readonly reason: string } | undefined,
): Promise<void> {
  await db<Row>(table)
    .where('chain_id', chainId)
    .update({
      stuck_at: stuck?.block?.toString() ?? null,
      stuck_reason: storable(stuck?.reason),
      stuck_since: stuck === undefined ? null : new Date(),
    });
}

/** Nodes choose the words of their errors, and PostgreSQL accepts no U+0000 in a text. */
const storable = (text: string | undefined): string | null =>
  text === undefined ? null : safeJsonText(text);
