import type { Database } from '../../../contract/transaction.ts';
import type { Coverage } from '../../shared/provider.ts';

type Range = { readonly fromBlock?: bigint | undefined; readonly toBlock?: bigint | undefined };

type Row = {
  readonly start_block: string;
  readonly head_number: string;
  readonly untraced_blocks: string;
  readonly empty_heights: string;
  readonly withdrawals: string;
  readonly rewards: string;
  readonly unrewarded_blocks: string;
  readonly ledger_from: string | null;
  readonly skipped: string[];
};

/** More are counted, but not named. */
const mostSkipped = 100;

/**
 * Returns what the answers of an index cover. Skipped blocks are those within the range of the answer.
 * @returns undefined when the network has no indexed block
 */
export async function findCoverage(
  db: Database,
  chainId: string,
  { fromBlock, toBlock }: Range,
): Promise<Coverage | undefined> {
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT s.start_block, s.head_number, s.untraced_blocks, s.empty_heights, s.withdrawals,
       s.rewards, s.unrewarded_blocks, s.ledger_from,
       ARRAY(SELECT b.block_number::text FROM index_skipped_blocks b WHERE b.chain_id = s.chain_id
         AND b.block_number BETWEEN greatest(s.start_block, ?::bigint) AND least(s.head_number, ?::bigint)
         ORDER BY b.block_number LIMIT ?) AS skipped
     FROM index_state s WHERE s.chain_id = ? AND s.head_number IS NOT NULL`,
    [fromBlock?.toString() ?? null, toBlock?.toString() ?? null, mostSkipped, chainId],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    fromBlock: BigInt(row.start_block),
    traces: tracesOf(row),
    skippedBlocks: row.skipped.map(BigInt),
    outsideTransactions: [
      ...(row.withdrawals === '0' ? [] : (['withdrawals'] as const)),
      ...(row.rewards === '0' ? [] : (['rewards'] as const)),
    ],
    rewards: rewardsOf(row),
    ledgerFrom: row.ledger_from === null ? undefined : BigInt(row.ledger_from),
  };
}

function rewardsOf(row: Row): Coverage['rewards'] {
  const { ledger_from, unrewarded_blocks } = row;
  if (ledger_from === null) return 'unknown';
  if (unrewarded_blocks === '0') return 'every';
  return isEach(unrewarded_blocks, ledger_from, row) ? 'unknown' : 'part';
}

function tracesOf(row: Row): Coverage['traces'] {
  const { start_block, untraced_blocks } = row;
  if (untraced_blocks === '0') return 'all';
  return isEach(untraced_blocks, start_block, row) ? 'none' : 'some';
}

/** Returns whether so many are all blocks from one on. Blocks that were replaced count too. */
function isEach(count: string, from: string, { head_number, empty_heights }: Row): boolean {
  return BigInt(count) + BigInt(empty_heights) > BigInt(head_number) - BigInt(from);
}
