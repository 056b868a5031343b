import type { Tx } from '../../../../contract/transaction.ts';
import { readMoves, readTransaction } from '../../classify/stored-moves.ts';
import { bytes, hex, insertBulk, rowsTable } from './bulk-store.ts';
import { approvalKey, createNativeSums, creditKinds, kindName } from './ledger-rows.ts';

/**
 * The tables in addition to the histories: credits of blocks, sums of the native asset, approvals. They are complete
 * from `ledger_from` on, up to `ledger_head`. That is the head, unless an older release wrote last.
 */
const tables = ['block_credits', 'native_sums', 'approval_changes', 'wallet_approvals'];

/** What happens to rows that exist already. */
export const ledgerConflicts = {
  native_sums: `ON CONFLICT (chain_id, wallet) DO UPDATE SET moved = native_sums.moved + excluded.moved,
      fees = native_sums.fees + excluded.fees, unknown_fees = native_sums.unknown_fees + excluded.unknown_fees,
      withdrawals = native_sums.withdrawals + excluded.withdrawals, rewards = native_sums.rewards + excluded.rewards`,
  wallet_approvals: `ON CONFLICT (chain_id, wallet, contract, kind, token_id, party) DO UPDATE SET
      spender = excluded.spender, amount = excluded.amount, granted = excluded.granted,
      changed_block = excluded.changed_block, changed_log = excluded.changed_log`,
};

/** Starts again where another release wrote or removed blocks meanwhile, because no sum contains its changes. */
export async function restartLedger(tx: Tx, chainId: string): Promise<void> {
  for (const table of tables) await tx(table).where('chain_id', chainId).delete();
}

type HistoryRow = { readonly wallet: Buffer; readonly tx: unknown; readonly moves: unknown };
type CreditRow = { readonly wallet: Buffer; readonly kind: number; readonly amount: string };

/** The condition of the rows that go. */
type Replaced = {
  readonly sql: string;
  readonly bindings: { readonly chainId: string; readonly keep: string };
};

// Each is a range of the primary key.
const everyKind = `kind IN (${Object.values(creditKinds).join()})`;

/** Undoes what the rows of a condition added. They must still exist. */
export async function undoLedger(tx: Tx, replaced: Replaced): Promise<void> {
  const { sql, bindings } = replaced;
  const { chainId } = bindings;
  const { rows } = await tx.raw<{ rows: HistoryRow[] }>(
    // No sum contains rows from before the sums began.
    `SELECT wallet, tx, moves FROM wallet_history ${sql}
     AND block_number >= (SELECT ledger_from FROM index_state WHERE chain_id = :chainId)`,
    bindings,
  );
  const credits = await tx.raw<{ rows: CreditRow[] }>(
    `DELETE FROM block_credits ${sql} AND ${everyKind} RETURNING wallet, kind, amount`,
    bindings,
  );
  const sums = createNativeSums();
  for (const row of rows) {
    const wallet = hex(row.wallet);
    sums.addRow(wallet, readTransaction(row.tx), readMoves(row.moves, wallet));
  }
  for (const { wallet, kind, amount } of credits.rows) {
    sums.addCredit({ wallet: hex(wallet), kind: kindName(creditKinds, kind), amount: BigInt(amount) });
  }
  await insertBulk(tx, 'native_sums', chainId, sums.rows(-1n), ledgerConflicts.native_sums);
  await undoApprovals(tx, replaced);
}

type UndoneRow = {
  readonly wallet: Buffer;
  readonly contract: Buffer;
  readonly kind: number;
  readonly token_id: string;
  readonly party: Buffer;
};

const keyOf = (table: string) => approvalKey.map((name) => `${table}.${name}`).join(', ');

/** Returns SQL of a column of the newest of changes `c`. */
export const newestChange = (name: string) =>
  `(array_agg(c.${name} ORDER BY c.block_number DESC, c.log_index DESC))[1]`;

async function undoApprovals(tx: Tx, { sql, bindings: { chainId, keep } }: Replaced): Promise<void> {
  const { rows } = await tx.raw<{ rows: UndoneRow[] }>(
    `DELETE FROM approval_changes ${sql} RETURNING ${approvalKey.join(', ')}`,
    { chainId, keep },
  );
  if (rows.length === 0) return;
  const keys = rows.map(({ wallet, contract, party, ...rest }) => ({
    ...rest,
    wallet: bytes(hex(wallet)),
    contract: bytes(hex(contract)),
    party: bytes(hex(party)),
  }));
  // The same approval may have changed several times. Values, not a temporary table: Citus joins temporary tables with
  // reference tables only.
  const distinct = new Map(keys.map((key) => [approvalKey.map((name) => key[name]).join(), key]));
  const undone = rowsTable('u', approvalKey, [...distinct.values()]);
  await tx.raw(
    `DELETE FROM wallet_approvals a USING ${undone.sql} WHERE a.chain_id = :chainId
       AND (${keyOf('a')}) = (${keyOf('u')})`,
    { chainId, ...undone.bindings },
  );
  // Grouped by the wallet, which clusters can do on each of their nodes.
  await tx.raw(
    `INSERT INTO wallet_approvals (chain_id, ${approvalKey.join(', ')}, spender, amount, granted, changed_block, changed_log)
     SELECT c.chain_id, ${keyOf('c')}, ${newestChange('spender')}, ${newestChange('amount')}, ${newestChange('granted')},
       max(c.block_number), ${newestChange('log_index')}
     FROM approval_changes c JOIN ${undone.sql} USING (${approvalKey.join(', ')})
     WHERE c.chain_id = :chainId GROUP BY c.chain_id, ${keyOf('c')}`,
    { chainId, ...undone.bindings },
  );
}
