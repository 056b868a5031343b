import type { ContractVerdict } from '../../chain/contracts/contract-check.ts';
import type { Database } from '../../contract/transaction.ts';

/*
 * Table `contract_verdicts`: the verdicts on contracts that NFTs are minted on. Accepting a mint reads it in place of
 * asking a node. Only `unfit` rejects mints: a right that is missing may be granted while they wait.
 */

export type ExaminedContract = {
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly contract: string;
  readonly verdict: ContractVerdict;
  /** The verdict in words, for operators. */
  readonly detail: string;
};

/** Stores verdicts in place of earlier verdicts, in one order, so that no two transactions deadlock. */
export async function saveContractVerdicts(
  db: Database,
  examined: readonly ExaminedContract[],
): Promise<void> {
  if (examined.length === 0) return;
  await db.raw(
    `INSERT INTO contract_verdicts (chain_id, contract, verdict, detail)
     SELECT * FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[]) AS v (chain_id, contract) ORDER BY 1, 2
     ON CONFLICT (chain_id, contract) DO UPDATE
       SET verdict = excluded.verdict, detail = excluded.detail, checked_at = excluded.checked_at`,
    [
      examined.map(({ chainId }) => chainId),
      examined.map(({ contract }) => contract),
      examined.map(({ verdict }) => verdict),
      examined.map(({ detail }) => detail),
    ],
  );
}

const mostAtOnce = 5;

/**
 * Takes contracts to examine again that were found unfit at least these minutes ago, the longest ago first, at most 5.
 * Contracts that cannot be examined come after all others again.
 */
export async function takeUnfitContracts(
  db: Database,
  minutes: number,
): Promise<Pick<ExaminedContract, 'chainId' | 'contract'>[]> {
  const { rows } = await db.raw(
    `UPDATE contract_verdicts SET checked_at = clock_timestamp() WHERE (chain_id, contract) IN (
       SELECT chain_id, contract FROM contract_verdicts
       WHERE verdict = 'unfit' AND checked_at < clock_timestamp() - make_interval(mins => ?)
       ORDER BY checked_at LIMIT ${mostAtOnce} FOR UPDATE SKIP LOCKED)
     RETURNING chain_id AS "chainId", contract`,
    [minutes],
  );
  return rows;
}

/** A contract that RWAs name. */
export type UsedContract = {
  readonly chainId: string;
  readonly contract: string;
  /** Whether NFTs of any such RWA can be claimed. */
  readonly isClaimable: boolean;
  /** Id of the oldest of these RWAs. */
  readonly firstRwa: string;
};

/**
 * Lists every contract that RWAs name which are not archived, in the order of network and address. It hops in an index
 * from one contract of any RWA to the next, and finds in another index the oldest claimable RWA and the oldest other
 * RWA.
 */
export async function listUsedContracts(db: Database): Promise<UsedContract[]> {
  const { rows } = await db.raw(
    `WITH RECURSIVE named (chain_id, contract) AS (
       (SELECT chain_id, contract_address FROM rwas ORDER BY chain_id, contract_address LIMIT 1)
       UNION ALL
       SELECT further.* FROM named n CROSS JOIN LATERAL (
         SELECT chain_id, contract_address FROM rwas WHERE (chain_id, contract_address) > (n.chain_id, n.contract)
         ORDER BY chain_id, contract_address LIMIT 1) further)
     SELECT n.chain_id AS "chainId", n.contract, bool_or(r.is_claimable) AS "isClaimable",
       (array_agg(r.id ORDER BY r.created_at, r.id))[1] AS "firstRwa"
     FROM named n CROSS JOIN (VALUES (true), (false)) f (is_claimable) CROSS JOIN LATERAL (
       SELECT is_claimable, created_at, id FROM rwas
       WHERE archived_at IS NULL AND chain_id = n.chain_id AND contract_address = n.contract
         AND is_claimable = f.is_claimable
       ORDER BY created_at, id LIMIT 1) r
     GROUP BY n.chain_id, n.contract ORDER BY n.chain_id, n.contract`,
  );
  return rows;
}

/** Counts the RWAs that name a contract and are not archived. It reads all such RWAs in an index. */
export async function countRwasOf(
  db: Database,
  { chainId, contract }: Pick<ExaminedContract, 'chainId' | 'contract'>,
): Promise<number> {
  const { rows } = await db.raw(
    `SELECT count(*)::int AS count FROM rwas
     WHERE archived_at IS NULL AND chain_id = :chainId AND contract_address = :contract`,
    { chainId, contract },
  );
  return rows[0].count;
}
