import type { Database, Tx } from '../../../contract/transaction.ts';
import { today } from '../../minting/accept/mint-quota-store.ts';
import type { LaneId } from './lane-store.ts';

/*
 * Column `rwas.metadata_changed_at`: RWAs of which marketplaces have old metadata. Triggers set it, and a transaction that
 * reports the change (ERC-4906) clears it when it is stored. So a change that comes later makes the RWA due again.
 */

/** An RWA whose changed metadata are to be reported. */
export type DueRefresh = {
  readonly rwaId: string;
  /** EIP-55. */
  readonly contract: string;
  /** Decimal; the upper part of its token ids. */
  readonly number: string;
};

type Wanted = {
  /** For how long the metadata must not have changed. */
  readonly seconds: number;
  /** Contracts to skip. */
  readonly excludedContracts: readonly string[];
};

const isQuiet = 'r.metadata_changed_at <= clock_timestamp() - make_interval(secs => :seconds)';

/**
 * Finds the RWA that has waited longest to be reported: it has a minted NFT, no report under way, and its company a budget for
 * gas that is not used up.
 */
export async function findDueRefresh(
  db: Database,
  { chainId }: LaneId,
  { seconds, excludedContracts }: Wanted,
): Promise<DueRefresh | undefined> {
  const { rows }: { rows: DueRefresh[] } = await db.raw(
    `SELECT r.id AS "rwaId", r.contract_address AS contract, r.number::text FROM rwas r
     WHERE r.chain_id = :chainId AND ${isQuiet} AND r.claimed_nfts > 0
       AND r.contract_address <> ALL (:excludedContracts::text[])
       AND NOT EXISTS (SELECT FROM mint_transactions t
         WHERE t.chain_id = :chainId AND t.state = 'submitted' AND t.rwa_id = r.id)
       AND NOT EXISTS (SELECT FROM company_gas_budgets b
         LEFT JOIN company_gas_days d ON d.company_id = b.company_id AND d.chain_id = b.chain_id AND d.day = ${today}
         WHERE b.company_id = r.company_id AND b.chain_id = :chainId AND b.wei_per_day <= coalesce(d.wei, 0))
     ORDER BY r.metadata_changed_at LIMIT 1`,
    { chainId, seconds, excludedContracts: [...excludedContracts] },
  );
  return rows[0];
}

/**
 * Takes the RWA as reported, in the transaction that stores the report.
 * @returns false when it is not due any more, or another transaction is about to change it
 */
export async function takeDueRefresh(tx: Tx, rwaId: string, seconds: number): Promise<boolean> {
  const { rows } = await tx.raw(
    `UPDATE rwas SET metadata_changed_at = NULL WHERE id IN (
       SELECT id FROM rwas r WHERE id = :rwaId AND ${isQuiet} FOR NO KEY UPDATE SKIP LOCKED) RETURNING id`,
    { rwaId, seconds },
  );
  return rows.length > 0;
}

/** Makes the RWA due again whose report this transaction was; does nothing for other transactions. */
export async function makeDueAgain(tx: Tx, transactionId: string): Promise<void> {
  await tx.raw(
    `UPDATE rwas r SET metadata_changed_at = coalesce(r.metadata_changed_at, clock_timestamp())
     FROM mint_transactions t WHERE t.id = ? AND r.id = t.rwa_id`,
    [transactionId],
  );
}

/** Gives up the RWAs of a contract that have been due for a day. @returns how many */
export async function forgetRefreshes(db: Database, chainId: string, contract: string): Promise<number> {
  const { rowCount }: { rowCount: number } = await db.raw(
    `UPDATE rwas SET metadata_changed_at = NULL WHERE chain_id = ? AND contract_address = ?
       AND metadata_changed_at < clock_timestamp() - interval '1 day'`,
    [chainId, contract],
  );
  return rowCount;
}
