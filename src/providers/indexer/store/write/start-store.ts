import type { Database } from '../../../../contract/transaction.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { bytes, hex, rowsTable } from '../rows/bulk-store.ts';

/**
 * What wallets had of ERC-1155 tokens before the index began, in `nft_holdings`: null until the contract has reported
 * what the wallet has now. `amount` includes it from then on.
 */
const table = 'nft_holdings';

export type UnstartedHolding = {
  readonly wallet: string;
  readonly contract: string;
  readonly tokenId: bigint;
};

const key = ['wallet', 'contract', 'token_id'] as const;
const keyOf = ({ wallet, contract, tokenId }: UnstartedHolding) => ({
  wallet: bytes(wallet),
  contract: bytes(contract),
  token_id: tokenId,
});

const unstarted = 'standard = 1155 AND start_amount IS NULL';
const mostTries = 3;

/** Returns holdings whose start is not known and may be asked for. */
export async function listUnstarted(
  db: Database,
  chainId: string,
  limit: number,
): Promise<UnstartedHolding[]> {
  const rows: { wallet: Buffer; contract: Buffer; token_id: string }[] = await db(table)
    .where('chain_id', chainId)
    .whereRaw(`${unstarted} AND start_tries < ${mostTries}`)
    .orderBy('start_tries')
    .limit(limit)
    .select('wallet', 'contract', 'token_id');
  return rows.map(({ wallet, contract, token_id }) => ({
    wallet: hex(wallet),
    contract: hex(contract),
    tokenId: BigInt(token_id),
  }));
}

/** Returns whether all amounts of a wallet include what it had before the index began. */
export async function areStartsKnown(db: Database, chainId: string, wallet: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: [{ unknown: boolean }] }>(
    `SELECT EXISTS (SELECT 1 FROM ${table} WHERE chain_id = ? AND wallet = ?::bytea AND ${unstarted}
       AND start_tries BETWEEN 0 AND ${mostTries}) AS unknown`,
    [chainId, bytes(wallet)],
  );
  return !rows[0].unknown;
}

export type AskedHolding = UnstartedHolding & {
  /** What the wallet has at the head; undefined where the contract does not report it. */
  readonly amount: bigint | undefined;
};

/**
 * Stores what contracts reported at the head of the index, less what the index had counted by then.
 * @returns false when the head is another one by now; then nothing is stored
 */
export function saveStarts(
  db: Database,
  chainId: string,
  head: string,
  asked: readonly AskedHolding[],
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    // Every writer that adds or removes blocks changes this row first, and waits.
    const { rowCount } = await tx.raw<{ rowCount: number }>(
      'UPDATE index_state SET updated_at = updated_at WHERE chain_id = ? AND head_hash = ?::bytea',
      [chainId, bytes(head)],
    );
    if (rowCount !== 1) return false;
    const { sql, bindings } = rowsTable(
      'r',
      [...key, 'amount'],
      asked.map((holding) => ({ ...keyOf(holding), amount: holding.amount ?? null })),
    );
    await tx.raw(
      `UPDATE ${table} h SET start_tries = h.start_tries + 1, start_amount = r.amount - h.amount,
         amount = coalesce(r.amount, h.amount),
         acquired_block = CASE WHEN r.amount > h.amount THEN coalesce(h.acquired_block, 0) ELSE h.acquired_block END,
         acquired_log = CASE WHEN r.amount > h.amount THEN coalesce(h.acquired_log, 0) ELSE h.acquired_log END
       FROM ${sql} WHERE h.chain_id = :chainId AND h.wallet = r.wallet AND h.contract = r.contract
         AND h.token_id = r.token_id AND h.${unstarted.replace('start_amount', 'h.start_amount')}`,
      { chainId, ...bindings },
    );
    return true;
  });
}

/** Starts holdings of an index from the first block on, which an earlier release wrote, with nothing. */
export async function startFromNothing(db: Database, chainId: string, limit: number): Promise<number> {
  const holdings = await listUnstarted(db, chainId, limit);
  const listed = rowsTable('u', key, holdings.map(keyOf));
  await db.raw(
    `UPDATE ${table} h SET start_amount = 0 FROM ${listed.sql}
     WHERE h.chain_id = :chainId AND h.wallet = u.wallet AND h.contract = u.contract AND h.token_id = u.token_id`,
    { chainId, ...listed.bindings },
  );
  return holdings.length;
}
