import type { Database, Tx } from '../../../contract/transaction.ts';
import type { Attempt } from './attempt-store.ts';
import type { LaneId, LaneLease } from './lane-store.ts';

/*
 * Table `mint_transactions`: one row per nonce of a lane. Its attempts and its NFTs have tables and stores of
 * their own.
 */

/** A transaction that can still change: in flight, or confirmed and not final yet. */
export type OpenTransaction = {
  readonly id: string;
  readonly nonce: bigint;
  /** EIP-55. */
  readonly contract: string;
  readonly gasLimit: bigint;
  /** The RWA whose changed metadata it reports; null when it mints, or only uses its nonce. */
  readonly rwaId: string | null;
  /** The block that includes it, once the block is confirmed; null before. */
  readonly confirmedIn: BlockRef | null;
  /** Blocks of earlier mints, because of which the contract skipped some of its NFTs. */
  readonly foundIn: readonly BlockRef[];
  /** An operator has asked to mint some of its NFTs by another transaction. */
  readonly hasAskedOut: boolean;
  /** Some of its NFTs had ended before the chain lost it: its stored bytes must not mint them. */
  readonly hasEnded: boolean;
  /** The newest first; never empty. */
  readonly attempts: readonly [Attempt, ...Attempt[]];
};

/** A block that the state of a transaction depends on. */
type BlockRef = { readonly number: bigint; readonly hash: string };

/** A transaction of the chain and the block that includes it. */
export type Inclusion = {
  /** Of the transaction. */
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Of the block. */
  readonly time: Date;
  /** In wei; absent where nobody asked. */
  readonly cost?: bigint | null;
};

export type NewTransaction = {
  readonly nonce: bigint;
  /** EIP-55. */
  readonly contract: string;
  readonly gasLimit: bigint;
  /** Whose NFTs it has. */
  readonly companyIds?: readonly string[];
  /** The RWA whose changed metadata it reports. */
  readonly rwaId?: string;
  /** By how much its gas is above the estimate. */
  readonly gasFactor?: bigint;
};

type BlockJson = { readonly number: string; readonly hash: string };
type AttemptJson = Pick<Attempt, 'number' | 'hash'> & {
  readonly maxFee: string;
  readonly maxPriorityFee: string | null;
  readonly sentAtBlock: string;
};
type OpenRow = Pick<OpenTransaction, 'id' | 'contract' | 'rwaId' | 'hasAskedOut' | 'hasEnded'> & {
  readonly nonce: string;
  readonly gasLimit: string;
  readonly block: BlockJson | null;
  readonly found: readonly BlockJson[];
  readonly attempts: readonly AttemptJson[];
};

function toOpenTransaction({ block, found, ...row }: OpenRow): OpenTransaction {
  const [newest, ...older] = row.attempts.map(toAttempt);
  if (newest === undefined) throw new Error(`Mint transaction ${row.id} has no attempt.`);
  return {
    ...row,
    nonce: BigInt(row.nonce),
    gasLimit: BigInt(row.gasLimit),
    confirmedIn: block && toBlockRef(block),
    foundIn: found.map(toBlockRef),
    attempts: [newest, ...older],
  };
}

const toBlockRef = ({ number, hash }: BlockJson): BlockRef => ({ number: BigInt(number), hash });

const toAttempt = ({ number, hash, maxFee, maxPriorityFee, sentAtBlock }: AttemptJson): Attempt => ({
  number,
  hash,
  fees: {
    maxFeePerGas: BigInt(maxFee),
    maxPriorityFeePerGas: maxPriorityFee === null ? null : BigInt(maxPriorityFee),
  },
  sentAtBlock: BigInt(sentAtBlock),
});

/** Lists the transactions of a lane that can still change, in the order of their nonces. */
export const listOpenTransactions = (db: Database, lane: LaneId) =>
  listInStates(db, lane, ['submitted', 'confirmed']);

/** Lists those of them that are in no confirmed block: far fewer, where blocks take long to become final. */
export const listUnconfirmedTransactions = (db: Database, lane: LaneId) =>
  listInStates(db, lane, ['submitted']);

async function listInStates(
  db: Database,
  lane: LaneId,
  states: readonly ('submitted' | 'confirmed')[],
): Promise<OpenTransaction[]> {
  const { rows }: { rows: OpenRow[] } = await db.raw(
    `SELECT t.id, t.nonce, t.contract, t.gas_limit AS "gasLimit", t.rwa_id AS "rwaId", a.attempts, f.found,
       CASE WHEN t.block_number IS NOT NULL THEN
         json_build_object('number', t.block_number::text, 'hash', t.block_hash) END AS block,
       EXISTS (SELECT FROM mint_transaction_nfts
         WHERE transaction_id = t.id AND state = 'open' AND asked_out) AS "hasAskedOut",
       EXISTS (SELECT FROM mint_transaction_nfts WHERE transaction_id = t.id AND ended_as IS NOT NULL) AS "hasEnded"
     FROM mint_transactions t CROSS JOIN LATERAL (
       SELECT coalesce(json_agg(json_build_object('number', number, 'hash', hash, 'maxFee', max_fee_per_gas::text,
         'maxPriorityFee', max_priority_fee_per_gas::text, 'sentAtBlock', sent_at_block::text)
         ORDER BY number DESC), '[]') AS attempts FROM mint_attempts WHERE transaction_id = t.id) a
     CROSS JOIN LATERAL (
       SELECT coalesce(json_agg(json_build_object('number', found_block::text, 'hash', found_block_hash)), '[]') AS found
       FROM mint_transaction_nfts
       WHERE t.state = 'confirmed' AND transaction_id = t.id AND found_block IS NOT NULL) f
     WHERE t.chain_id = :chainId AND t.signer = :signer AND t.state IN (${states.map((state) => `'${state}'`).join()})
     ORDER BY t.nonce`,
    lane,
  );
  return rows.map(toOpenTransaction);
}

/**
 * Finds the highest nonce that the lane has ever stored, or that it must not use since a recovery.
 * @returns undefined when there is none
 */
export async function findHighestNonce(db: Database, lane: LaneId): Promise<bigint | undefined> {
  const { rows }: { rows: { nonce: string | null }[] } = await db.raw(
    `SELECT greatest(
       (SELECT max(nonce) FROM mint_transactions WHERE chain_id = :chainId AND signer = :signer),
       (SELECT nullif(nonce_floor, 0) - 1 FROM mint_lanes WHERE chain_id = :chainId AND signer = :signer)) AS nonce`,
    lane,
  );
  const nonce = rows[0]?.nonce;
  return nonce === null || nonce === undefined ? undefined : BigInt(nonce);
}

/** Finds the highest nonce of the lane whose use is final. @returns undefined when there is none */
export async function findHighestEnded(db: Database, lane: LaneId): Promise<bigint | undefined> {
  const row: { nonce: string } | undefined = await db('mint_transactions')
    .where({ chain_id: lane.chainId, signer: lane.signer })
    .whereIn('state', ['finalized', 'reverted', 'lost'])
    .orderBy('nonce', 'desc')
    .first('nonce');
  return row && BigInt(row.nonce);
}

/** Inserts a transaction in state `submitted`, without attempts and NFTs. @returns its id */
export async function insertTransaction(tx: Tx, lease: LaneLease, created: NewTransaction): Promise<string> {
  const [row]: { id: string }[] = await tx('mint_transactions')
    .insert({
      chain_id: lease.chainId,
      signer: lease.signer,
      nonce: created.nonce.toString(),
      contract: created.contract,
      gas_limit: created.gasLimit.toString(),
      fence: lease.fence,
      company_ids: [...(created.companyIds ?? [])],
      rwa_id: created.rwaId ?? null,
      gas_factor: (created.gasFactor ?? 1n).toString(),
    })
    .returning('id');
  if (row === undefined) throw new Error('The transaction was not stored.');
  return row.id;
}

/**
 * Sets the state of a transaction and where it is included.
 * @param inclusion of the attempt that was mined; undefined when none is
 */
export async function setTransactionState(
  tx: Tx,
  id: string,
  state: 'submitted' | 'confirmed' | 'reverted' | 'lost',
  inclusion: Inclusion | undefined,
): Promise<void> {
  await tx('mint_transactions')
    .where({ id })
    .update({
      state,
      mined_hash: inclusion?.hash ?? null,
      block_number: inclusion?.blockNumber.toString() ?? null,
      block_hash: inclusion?.blockHash ?? null,
      updated_at: tx.fn.now(),
    });
  await setTransactionCost(tx, id, inclusion?.cost ?? null);
}

/** Sets the gas limit of a transaction to that of its newest attempt. */
export async function setGasLimit(tx: Tx, id: string, gasLimit: bigint): Promise<void> {
  await tx('mint_transactions')
    .where({ id })
    .update({ gas_limit: gasLimit.toString(), updated_at: tx.fn.now() });
}

/**
 * Finds the lowest nonce in flight whose predecessor the lane has never stored. @returns undefined when there is none
 */
export async function findNonceAfterGap(db: Database, lane: LaneId): Promise<bigint | undefined> {
  const { rows }: { rows: { nonce: string }[] } = await db.raw(
    `SELECT t.nonce FROM mint_transactions t
     WHERE t.chain_id = :chainId AND t.signer = :signer AND t.state = 'submitted' AND t.nonce > 0
       AND NOT EXISTS (SELECT 1 FROM mint_transactions b
         WHERE b.chain_id = t.chain_id AND b.signer = t.signer AND b.nonce = t.nonce - 1)
     ORDER BY t.nonce LIMIT 1`,
    lane,
  );
  const [row] = rows;
  return row && BigInt(row.nonce);
}

/** Whether the lane has ever stored a transaction of this nonce. */
export async function hasNonce(db: Database, lane: LaneId, nonce: bigint): Promise<boolean> {
  const row = await db('mint_transactions')
    .where({ chain_id: lane.chainId, signer: lane.signer, nonce: nonce.toString() })
    .first('id');
  return row !== undefined;
}

/** Sets the state of a confirmed transaction to `finalized`; where it is included stays. */
export async function setTransactionFinalized(tx: Tx, id: string): Promise<void> {
  await tx.raw(`UPDATE mint_transactions SET state = 'finalized', updated_at = now() WHERE id = ?`, [id]);
}

/*
 * What mints cost: a mined transaction's cost by its receipt, counted to the day on which it was seen in parts of equal
 * size for each of its NFTs, and taken back when a reorganisation removes it. A report of changed metadata counts to the
 * company of the RWA.
 */

const shares = (sign: '' | '-') => `
  INSERT INTO company_gas_days AS d (company_id, chain_id, day, wei)
  SELECT p.company_id, t.chain_id, t.cost_day, ${sign}floor(t.cost * p.parts / sum(p.parts) OVER ())
  FROM mint_transactions t CROSS JOIN LATERAL (
    SELECT n.company_id, count(*) AS parts FROM mint_transaction_nfts l JOIN nfts n ON n.id = l.nft_id
    WHERE l.transaction_id = t.id GROUP BY n.company_id
    UNION ALL
    SELECT company_id, 1 FROM rwas WHERE id = t.rwa_id) p
  WHERE t.id = ? AND t.cost IS NOT NULL ORDER BY p.company_id
  ON CONFLICT (company_id, chain_id, day) DO UPDATE SET wei = d.wei + excluded.wei`;

/** Counts what the transaction cost, in place of what was counted before. @param cost in wei; null in none of its blocks */
async function setTransactionCost(tx: Tx, id: string, cost: bigint | null): Promise<void> {
  const { rows }: { rows: { cost: string | null }[] } = await tx.raw(
    'SELECT cost FROM mint_transactions WHERE id = ? FOR UPDATE',
    [id],
  );
  const counted = rows[0]?.cost ?? null;
  if (counted === (cost?.toString() ?? null)) return;
  if (counted !== null) await tx.raw(shares('-'), [id]);
  await tx.raw(
    `UPDATE mint_transactions SET cost = :cost,
       cost_day = CASE WHEN :cost::numeric IS NOT NULL THEN (clock_timestamp() AT TIME ZONE 'UTC')::date END
     WHERE id = :id`,
    { id, cost: cost?.toString() ?? null },
  );
  if (cost !== null) await tx.raw(shares(''), [id]);
}
