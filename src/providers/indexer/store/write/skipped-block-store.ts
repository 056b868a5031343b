import type { Database } from '../../../../contract/transaction.ts';

/**
 * Blocks that the operator leaves out of an index, because they cannot be read. The index has passed those up to its
 * head, and will pass those above it.
 */
const table = 'index_skipped_blocks';

type Row = {
  readonly block_number: string;
  readonly reason: string;
  readonly skipped_at: Date;
};

export type SkippedBlock = { readonly number: bigint; readonly reason: string; readonly at: Date };

/** @returns the numbers of the blocks above `after` that are to be left out */
export async function listSkips(db: Database, chainId: string, after: bigint): Promise<ReadonlySet<bigint>> {
  const rows: string[] = await db<Row>(table)
    .where('chain_id', chainId)
    .where('block_number', '>', String(after))
    .pluck('block_number');
  return new Set(rows.map(BigInt));
}

/** The skipped blocks of a range, both ends included, in ascending order. */
export async function listSkippedBlocks(
  db: Database,
  chainId: string,
  range: { readonly from: bigint; readonly to: bigint },
): Promise<SkippedBlock[]> {
  const rows: Row[] = await db<Row>(table)
    .where('chain_id', chainId)
    .whereBetween('block_number', [String(range.from), String(range.to)])
    .orderBy('block_number')
    .select('block_number', 'reason', 'skipped_at');
  return rows.map(({ block_number, reason, skipped_at }) => ({
    number: BigInt(block_number),
    reason,
    at: skipped_at,
  }));
}

/** The number of skipped blocks of each network that has any. */
export async function countSkippedBlocks(db: Database): Promise<ReadonlyMap<string, number>> {
  const rows: { chain_id: string; count: string }[] = await db(table)
    .groupBy('chain_id')
    .select('chain_id', db.raw('count(*) AS count'));
  return new Map(rows.map(({ chain_id, count }) => [chain_id, Number(count)]));
}

/** Records that a block is left out. @returns false when that was recorded before */
export async function insertSkip(
  db: Database,
  chainId: string,
  number: bigint,
  reason: string,
): Promise<boolean> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `INSERT INTO index_skipped_blocks (chain_id, block_number, reason) VALUES (?, ?, ?)
     ON CONFLICT (chain_id, block_number) DO NOTHING`,
    [chainId, String(number), reason],
  );
  return rowCount === 1;
}
