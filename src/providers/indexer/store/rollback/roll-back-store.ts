import type { Database, Tx } from '../../../../contract/transaction.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import type { BlockHeader } from '../../decode/domain.ts';
import { bytes, hex, rowsTable } from '../rows/bulk-store.ts';
import { deleteFacets } from '../rows/facet-store.ts';
import { undoLedger } from '../rows/ledger-store.ts';
import { findCitusWorkers } from './distribute-store.ts';
import { stateOf } from './holding-state.ts';

/** Another process moved the head of the index meanwhile, so the change does not apply. Nothing was written. */
export class IndexMovedError extends Error {
  constructor(chainId: string) {
    super(`The index of network ${chainId} was changed by another process`);
    this.name = 'IndexMovedError';
  }
}

/**
 * Removes every block above `to`, in one transaction.
 * @param head hash of the present head
 * @param to the newest block to keep; undefined removes all
 * @throws IndexMovedError when the head is another block
 */
export async function rollBackBlocks(
  db: Database,
  chainId: string,
  head: string,
  to: Pick<BlockHeader, 'number'> | undefined,
): Promise<void> {
  await inTransaction(db, (tx) => rollBackTo(tx, chainId, head, to));
}

async function rollBackTo(
  tx: Tx,
  chainId: string,
  head: string,
  to: Pick<BlockHeader, 'number'> | undefined,
): Promise<void> {
  const keep = String(to?.number ?? -1n);
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `UPDATE index_state s SET head_number = b.number, head_hash = b.hash, head_time = b.block_time, updated_at = now()
     FROM (SELECT 1) one LEFT JOIN index_blocks b ON b.chain_id = ? AND b.number = ?
     WHERE s.chain_id = ? AND s.head_hash = ?::bytea`,
    [chainId, keep, chainId, bytes(head)],
  );
  if (rowCount !== 1) throw new IndexMovedError(chainId);
  const rows = { sql: `${replaced} AND wallet IN ${touchedWallets}`, bindings: { chainId, keep } };
  await deleteFacets(tx, chainId, rows);
  await undoLedger(tx, rows);
  await tx.raw(`DELETE FROM wallet_history ${rows.sql}`, rows.bindings);
  await undoHoldings(tx, chainId, keep);
  await tx.raw(`DELETE FROM nft_changes ${rows.sql}`, rows.bindings);
  await tx.raw('DELETE FROM index_skipped_logs WHERE chain_id = ? AND block_number > ?', [chainId, keep]);
  // The new branch has another block at that number, which may be readable.
  await tx.raw(
    `DELETE FROM index_skipped_blocks ${replaced}
     AND block_number <= (SELECT max(number) FROM index_blocks WHERE chain_id = :chainId)`,
    { chainId, keep },
  );
  await tx.raw('DELETE FROM transfer_checks WHERE chain_id = ? AND block_number > ?', [chainId, keep]);
  await tx.raw('DELETE FROM index_blocks WHERE chain_id = ? AND number > ?', [chainId, keep]);
  await takeBackLedger(tx, chainId, head, keep);
}

/**
 * Moves the ledger back with the head, if it was there. Where it began above the blocks that stay, nothing of it is
 * left.
 */
async function takeBackLedger(tx: Tx, chainId: string, head: string, keep: string): Promise<void> {
  await tx.raw(
    `UPDATE index_state SET ledger_head = head_hash, ledger_from = CASE WHEN ledger_from <= :keep THEN ledger_from END
     WHERE chain_id = :chainId AND ledger_head = :head::bytea`,
    { chainId, head: bytes(head), keep },
  );
}

const replaced = 'WHERE chain_id = :chainId AND block_number > :keep';

/** The blocks name the wallets that they touch, so each row is found by its primary key. */
const touchedWallets =
  '(SELECT DISTINCT unnest(wallets) FROM index_blocks WHERE chain_id = :chainId AND number > :keep)';

/** A token that a wallet gained or lost in the blocks that are removed. */
type Undone = { readonly wallet: Buffer; readonly contract: Buffer; readonly token_id: string };

async function undoHoldings(tx: Tx, chainId: string, keep: string): Promise<void> {
  const { rows } = await tx.raw<{ rows: Undone[] }>(
    `SELECT DISTINCT wallet, contract, token_id FROM nft_changes ${replaced} AND wallet IN ${touchedWallets}`,
    { chainId, keep },
  );
  // Each node of a cluster has its own wallets.
  const isSpread = (await findCitusWorkers(tx)) !== undefined;
  const taken = isSpread ? [...Map.groupBy(rows, ({ wallet }) => hex(wallet)).values()] : [rows];
  for (const part of taken.flatMap(partsOf)) {
    const wallet = isSpread ? bytes(hex(part[0].wallet)) : undefined;
    const { sql, bindings } = undone(part);
    const statement = takeBack(sql, wallet === undefined ? 'u.wallet' : ':wallet::bytea');
    await tx.raw(statement, { chainId, keep, ...bindings, ...(wallet !== undefined && { wallet }) });
  }
  for (const { sql, bindings } of partsOf(rows).map(undone)) {
    for (const step of undoSteps(sql)) await tx.raw(step, { chainId, keep, ...bindings });
  }
}

// One statement must end long before its time limit, however many tokens were moved.
const tokensAtOnce = 500;

function partsOf(rows: readonly Undone[]): [Undone, ...Undone[]][] {
  const [first, ...others] = rows.slice(0, tokensAtOnce);
  return first === undefined ? [] : [[first, ...others], ...partsOf(rows.slice(tokensAtOnce))];
}

// Values, not a temporary table: Citus joins temporary tables with reference tables only.
const undone = (part: readonly Undone[]) =>
  rowsTable(
    'u',
    ['wallet', 'contract', 'token_id'],
    part.map(({ wallet, contract, token_id }) => ({
      wallet: bytes(hex(wallet)),
      contract: bytes(hex(contract)),
      token_id,
    })),
  );

/** Takes holdings back to the block that is kept, where anything of them is left. */
const takeBack = (
  tokens: string,
  wallet: string,
) => `UPDATE nft_holdings t SET standard = n.standard, amount = n.amount, changed_block = n.changed_block,
    acquired_block = coalesce(n.acquired_block, CASE WHEN n.standard = 1155 AND t.start_amount > 0 THEN 0 END),
    acquired_log = coalesce(n.acquired_log, CASE WHEN n.standard = 1155 AND t.start_amount > 0 THEN 0 END)
  FROM ${tokens} CROSS JOIN LATERAL ${stateOf('u', ':keep', wallet)} n
  WHERE t.chain_id = :chainId AND t.wallet = ${wallet} AND t.contract = u.contract AND t.token_id = u.token_id
    AND n.changed_block IS NOT NULL`;

const undoSteps = (tokens: string) => [
  `DELETE FROM nft_holdings h USING ${tokens} WHERE h.chain_id = :chainId
     AND h.wallet = u.wallet AND h.contract = u.contract AND h.token_id = u.token_id AND h.changed_block > :keep`,
  `UPDATE nft_tokens t SET minted_block = NULL, minter = NULL FROM ${tokens} WHERE t.chain_id = :chainId
     AND t.contract = u.contract AND t.token_id = u.token_id AND t.minted_block > :keep`,
];
