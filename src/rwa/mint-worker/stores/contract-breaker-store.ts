import type { Database, Tx } from '../../../contract/transaction.ts';

/*
 * Columns of `mint_contracts`: how transactions to a contract ended in blocks, one after the other. A contract that makes
 * them fail gets few more.
 */

type ContractId = { readonly chainId: string; readonly contract: string };

/** Transactions in a row that minted nothing, after which a contract gets one in an hour. */
export const mostFailures = 5;
// A multiple of what estimates say.
const mostGasFactor = 16;

export type ContractBreaker = {
  /** Transactions in a row that minted nothing. */
  readonly failures: number;
  /** By how much the gas is raised that estimates say. */
  readonly gasFactor: bigint;
  /** Whether the last one of a failing contract is an hour ago. */
  readonly isProbeDue: boolean;
};

const isProbeDue = `(probed_at IS NULL OR probed_at < clock_timestamp() - interval '1 hour')`;

export async function findBreaker(db: Database, { chainId, contract }: ContractId): Promise<ContractBreaker> {
  const { rows }: { rows: { failures: number; gas_factor: number; due: boolean }[] } = await db.raw(
    `SELECT failures, gas_factor, ${isProbeDue} AS due FROM mint_contracts WHERE chain_id = ? AND contract = ?`,
    [chainId, contract],
  );
  const [row] = rows;
  return {
    failures: row?.failures ?? 0,
    gasFactor: BigInt(row?.gas_factor ?? 1),
    isProbeDue: row?.due ?? true,
  };
}

/** Takes the one transaction in an hour that a failing contract gets, where that is stored. @returns whether it may be sent */
export async function takeProbe(tx: Tx, { chainId, contract }: ContractId): Promise<boolean> {
  const { rows } = await tx.raw(
    `UPDATE mint_contracts SET probed_at = clock_timestamp() WHERE chain_id = ? AND contract = ?
       AND ${isProbeDue} RETURNING contract`,
    [chainId, contract],
  );
  return rows.length > 0;
}

/** Takes the failing contracts of a network whose next transaction an operator wants at once. @returns their addresses */
export async function takeAskedProbes(db: Database, chainId: string): Promise<string[]> {
  const { rows }: { rows: { contract: string }[] } = await db.raw(
    `UPDATE mint_contracts SET probed_at = '-infinity' WHERE chain_id = ? AND failures >= ${mostFailures} AND probed_at IS NULL
     RETURNING contract`,
    [chainId],
  );
  return rows.map(({ contract }) => contract);
}

/** Notes that a transaction minted something. */
export async function noteSuccess(tx: Tx, { chainId, contract }: ContractId): Promise<void> {
  await tx('mint_contracts')
    .where({ chain_id: chainId, contract })
    .where('failures', '>', 0)
    .update({ failures: 0, probed_at: null });
}

/** Notes that a transaction minted nothing. The first probe comes an hour after the last failure. */
export async function noteFailure(tx: Tx, { chainId, contract }: ContractId): Promise<void> {
  await tx.raw(
    `UPDATE mint_contracts SET failures = failures + 1, probed_at = clock_timestamp() WHERE chain_id = ? AND contract = ?`,
    [chainId, contract],
  );
}

/**
 * Notes that a transaction used all of its gas. If it had the present factor of its contract, the next ones get twice as
 * much.
 * @returns false when it had as much as is ever given: then it is a failure like any other
 */
export async function noteOutOfGas(tx: Tx, id: string, { chainId, contract }: ContractId): Promise<boolean> {
  await tx.raw(
    `UPDATE mint_contracts c SET gas_factor = c.gas_factor * 2 FROM mint_transactions t
     WHERE t.id = :id AND c.chain_id = :chainId AND c.contract = :contract AND c.gas_factor = t.gas_factor
       AND c.gas_factor < ${mostGasFactor}`,
    { id, chainId, contract },
  );
  const excused = await tx('mint_transactions')
    .where({ id })
    .where('gas_factor', '<', mostGasFactor)
    .update({ out_of_gas: true });
  return excused > 0;
}

/** Notes that a transaction minted all of its NFTs with less than half of its gas: half of the present factor suffices. */
export async function noteSpareGas(tx: Tx, id: string, { chainId, contract }: ContractId): Promise<void> {
  await tx.raw(
    `UPDATE mint_contracts c SET gas_factor = c.gas_factor / 2 FROM mint_transactions t
     WHERE t.id = :id AND c.chain_id = :chainId AND c.contract = :contract AND c.gas_factor = t.gas_factor
       AND c.gas_factor > 1`,
    { id, chainId, contract },
  );
}
