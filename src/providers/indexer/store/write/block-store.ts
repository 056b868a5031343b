import type { Database, Tx } from '../../../../contract/transaction.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import type { BlockHeader, IndexedBlock } from '../../decode/domain.ts';
import { IndexMovedError } from '../rollback/roll-back-store.ts';
import { type BlockRows, blockRows } from '../rows/block-rows.ts';
import { bytes, copyLines, hex, insertBulk, timeOf } from '../rows/bulk-store.ts';
import { type HistoryTable, historyTables, type WrittenBlock } from '../rows/history-rows.ts';
import { ledgerConflicts, restartLedger } from '../rows/ledger-store.ts';

/** The blocks that may still be replaced, from the last final block on, with the wallets that they touch. */
const table = 'index_blocks';

type Row = { readonly number: string; readonly hash: Buffer };
export type BlockName = Pick<BlockHeader, 'number' | 'hash'>;

const toName = ({ number, hash }: Row): BlockName => ({ number: BigInt(number), hash: hex(hash) });

/**
 * The indexed blocks that may still be replaced, newest first.
 * @param below only blocks with lower numbers
 */
export async function listRecentBlocks(
  db: Database,
  chainId: string,
  limit: number,
  below?: bigint,
): Promise<BlockName[]> {
  const query = db(table).where('chain_id', chainId).orderBy('number', 'desc').limit(limit);
  if (below !== undefined) query.where('number', '<', String(below));
  const rows: Row[] = await query.select('number', 'hash');
  return rows.map(toName);
}

/**
 * Adds blocks that follow the head, all or nothing, and removes the names of wallets that the final blocks touched.
 * @param head hash of the head that they follow; undefined before the first block
 * @param keepFrom number of the block that was final before the blocks were read
 * @throws IndexMovedError when the head is another block
 */
export async function appendBlocks(
  db: Database,
  chainId: string,
  head: string | undefined,
  blocks: readonly WrittenBlock[],
  keepFrom: bigint,
): Promise<void> {
  const rows = blockRows(blocks);
  await inTransaction(db, async (tx) => {
    const startBlock = await moveHead(tx, chainId, head, blocks);
    for (const [table, columns] of Object.entries(historyTables)) {
      const lines = blocks.map((block) => block.lines[table as HistoryTable]); // a key of the tables
      await copyLines(tx, table, columns, lines);
    }
    await insertRows(tx, chainId, startBlock === '0' ? withoutPast(rows) : rows);
    await insertBlocks(
      tx,
      chainId,
      blocks.filter(({ header }) => header.number >= keepFrom),
    );
    // The new blocks follow the indexed blocks, so those are on the node's branch, and the final blocks stay on it.
    // The last final block is kept, because every later block must descend from it.
    await tx(table).where('chain_id', chainId).where('number', '<', String(keepFrom)).delete();
  });
}

/** Before the first block of a network nobody had anything. */
function withoutPast(rows: BlockRows): BlockRows {
  return { ...rows, nft_holdings: rows.nft_holdings.map((row) => ({ ...row, start_amount: 0n })) };
}

/**
 * Moves the head. The condition on the old head fences off a second writer, should the lease ever fail.
 * @returns the first block of the index
 */
async function moveHead(
  tx: Tx,
  chainId: string,
  head: string | undefined,
  blocks: readonly IndexedBlock[],
): Promise<string | undefined> {
  const last = blocks.at(-1);
  if (last === undefined) return undefined;
  const sum = (of: (block: IndexedBlock) => number) => blocks.reduce((total, block) => total + of(block), 0);
  await followLedger(tx, chainId, blocks);
  const { rows } = await tx.raw<{ rows: { start_block: string }[] }>(
    `UPDATE index_state SET head_number = :number, head_hash = :hash::bytea, head_time = to_timestamp(:time::float8),
       untraced_blocks = untraced_blocks + :untraced, without_receipt = without_receipt + :withoutReceipt,
       withdrawals = withdrawals + :withdrawals, rewards = rewards + :rewards,
       partial_fees = partial_fees + :partialFees, incomplete_blocks = incomplete_blocks + :incomplete,
       empty_heights = empty_heights + :number::bigint - coalesce(head_number, start_block - 1) - :count,
       time_back = greatest(time_back, :back::bigint, coalesce(latest_time, 0) - :earliest::bigint),
       latest_time = greatest(latest_time, :latest::bigint),
       unrewarded_blocks = unrewarded_blocks + :unrewarded, ledger_head = :hash::bytea,
       updated_at = now()
     WHERE chain_id = :chainId AND head_hash IS NOT DISTINCT FROM :head::bytea RETURNING start_block`,
    {
      number: String(last.header.number),
      hash: bytes(last.header.hash),
      time: String(last.header.timestamp),
      untraced: sum(({ traced }) => Number(!traced)),
      withoutReceipt: sum((block) => block.withoutReceipt),
      withdrawals: sum((block) => block.withdrawals),
      rewards: sum(({ credits }) => credits.filter(({ kind }) => kind !== 'withdrawal').length),
      unrewarded: sum(({ rewardsKnown }) => Number(!rewardsKnown)),
      partialFees: sum((block) => block.partialFees),
      incomplete: sum(({ isIncomplete }) => Number(isIncomplete)),
      count: blocks.length,
      ...timesOf(blocks),
      chainId,
      head: head === undefined ? null : bytes(head),
    },
  );
  if (rows[0] === undefined) throw new IndexMovedError(chainId);
  return rows[0].start_block;
}

/** Returns the range of the times of blocks, and by how much they go back, in seconds. */
function timesOf(blocks: readonly IndexedBlock[]) {
  let [latest, earliest, back] = [0n, blocks[0]?.header.timestamp ?? 0n, 0n];
  for (const { timestamp } of blocks.map(({ header }) => header)) {
    if (timestamp > latest) latest = timestamp;
    if (timestamp < earliest) earliest = timestamp;
    if (latest - timestamp > back) back = latest - timestamp;
  }
  return { latest: String(latest), earliest: String(earliest), back: String(back) };
}

/**
 * Continues the ledger at the head. It starts again where another release has moved the head or deleted the index.
 */
async function followLedger(tx: Tx, chainId: string, [first]: readonly IndexedBlock[]): Promise<void> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `UPDATE index_state SET ledger_from = :first WHERE chain_id = :chainId
       AND (ledger_from IS NULL OR ledger_head IS DISTINCT FROM head_hash)`,
    { chainId, first: String(first?.header.number) },
  );
  if (rowCount > 0) await restartLedger(tx, chainId);
}

// A row that exists already is an error unless a clause here says what happens. No row is dropped.
const onConflict: Partial<Record<keyof BlockRows, string>> = {
  nft_holdings: `ON CONFLICT (chain_id, wallet, contract, token_id) DO UPDATE SET
      standard = greatest(excluded.standard, nft_holdings.standard),
      amount = CASE WHEN excluded.standard < nft_holdings.standard THEN nft_holdings.amount
        WHEN excluded.standard = 721 OR nft_holdings.standard = 721 THEN excluded.amount
        ELSE nft_holdings.amount + excluded.amount END,
      acquired_block = coalesce(excluded.acquired_block, nft_holdings.acquired_block),
      acquired_log = coalesce(excluded.acquired_log, nft_holdings.acquired_log),
      changed_block = excluded.changed_block`,
  // A release that does not know these rows leaves them when it removes blocks. `due` has the value of a new row,
  // because a cluster calls no now() here.
  transfer_checks: `ON CONFLICT (chain_id, block_number) DO UPDATE SET block_hash = excluded.block_hash,
      transfers = excluded.transfers, tries = 0, due = excluded.due`,
  token_contracts: `ON CONFLICT (chain_id, contract) DO UPDATE SET standard = excluded.standard
      WHERE excluded.standard > token_contracts.standard`,
  // Changes come in bursts, and a token is read at most every ten minutes.
  nft_refreshes: `ON CONFLICT (chain_id, contract, token_id) DO UPDATE
      SET due = greatest(excluded.due, nft_refreshes.rests_until) WHERE nft_refreshes.due IS NULL`,
  ...ledgerConflicts,
  nft_tokens: `ON CONFLICT (chain_id, contract, token_id) DO UPDATE
      SET minted_block = excluded.minted_block, minter = excluded.minter
      WHERE nft_tokens.minted_block IS NULL AND excluded.minted_block IS NOT NULL`,
};

// All are sent without waiting for each other: this process is busy with other blocks, and would keep the server waiting.
async function insertRows(tx: Tx, chainId: string, rows: BlockRows): Promise<void> {
  await Promise.all(
    Object.entries(rows).map(
      ([table, own]) => insertBulk(tx, table, chainId, own, onConflict[table as keyof BlockRows]), // a key of rows
    ),
  );
}

async function insertBlocks(tx: Tx, chainId: string, blocks: readonly WrittenBlock[]): Promise<void> {
  for (const { header, wallets } of blocks) {
    const { number, hash, parentHash } = header;
    await tx.raw(
      `INSERT INTO ${table} (chain_id, number, hash, parent_hash, block_time, wallets)
       VALUES (?, ?, ?::bytea, ?::bytea, ?, ?::bytea[])`,
      [chainId, String(number), bytes(hash), bytes(parentHash), timeOf(header), [...wallets].map(bytes)],
    );
  }
}
