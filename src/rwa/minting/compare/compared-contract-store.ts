import type { Database, Tx } from '../../../contract/transaction.ts';
import type { Disagreement } from './compare-page.ts';
import { namedContracts } from './named-contracts-sql.ts';
import type { ContractId } from './token-row-store.ts';

/*
 * Table `mint_contracts`: the contracts that this deployment mints on, and how far they are compared with the rows.
 * Table `mint_disagreements`: what a comparison found. Table `mint_recoveries`: networks whose lanes send nothing,
 * because the chain knows more than the database.
 */

export type ComparedContract = ContractId & {
  /** The last block that was compared; null when none was. */
  readonly comparedTo: bigint | null;
  /** Tokens without a row up to this block are known to be lost; null when none are. */
  readonly recoveredTo: bigint | null;
};

type Row = ContractId & { readonly comparedTo: string | null; readonly recoveredTo: string | null };

const columns = 'chain_id AS "chainId", contract, compared_to AS "comparedTo", recovered_to AS "recoveredTo"';

const toBlock = (text: string | null) => (text === null ? null : BigInt(text));

const toContract = ({ comparedTo, recoveredTo, ...id }: Row): ComparedContract => ({
  ...id,
  comparedTo: toBlock(comparedTo),
  recoveredTo: toBlock(recoveredTo),
});

/** Finds how far a contract is compared. */
export async function findCompared(
  db: Database,
  { chainId, contract }: ContractId,
): Promise<ComparedContract> {
  const { rows }: { rows: Row[] } = await db.raw(
    `SELECT ${columns} FROM mint_contracts WHERE chain_id = ? AND contract = ?`,
    [chainId, contract],
  );
  return rows.map(toContract)[0] ?? { chainId, contract, comparedTo: null, recoveredTo: null };
}

/** Lists the contracts on which a network's tokens are or can be minted: of its assets, and claimed contracts. */
export async function listContracts(db: Database, chainId: string): Promise<string[]> {
  const { rows }: { rows: { contract: string }[] } = await db.raw(
    `WITH RECURSIVE ${namedContracts}
     SELECT contract FROM named WHERE contract IS NOT NULL
     UNION SELECT contract FROM mint_contracts WHERE chain_id = :chainId ORDER BY 1`,
    { chainId },
  );
  return rows.map(({ contract }) => contract);
}

/** Lets the lanes of a network wait until it is recovered. The first reason stays. @param detail why, in words */
export async function beginRecovery(db: Database, chainId: string, detail: string): Promise<void> {
  await db.raw(
    `INSERT INTO mint_recoveries (chain_id, reason, detail) VALUES (:chainId, 'recovery_needed', :detail)
     ON CONFLICT DO NOTHING`,
    { chainId, detail },
  );
}

/**
 * Stores disagreements that are not known yet.
 * @returns the new disagreements
 */
export async function saveDisagreements(
  tx: Tx,
  { chainId, contract }: ContractId,
  found: readonly Disagreement[],
): Promise<Disagreement[]> {
  if (found.length === 0) return [];
  const { rows }: { rows: { tokenId: string; kind: string }[] } = await tx.raw(
    `INSERT INTO mint_disagreements (chain_id, contract, token_id, kind, nft_id, detail)
     SELECT :chainId, :contract, * FROM unnest(:tokens::numeric[], :kinds::text[], :nfts::uuid[], :details::text[])
     ON CONFLICT DO NOTHING RETURNING token_id AS "tokenId", kind`,
    {
      chainId,
      contract,
      tokens: found.map(({ tokenId }) => tokenId),
      kinds: found.map(({ kind }) => kind),
      nfts: found.map(({ nftId }) => nftId),
      details: found.map(({ detail }) => detail),
    },
  );
  const isNew = (one: Disagreement) =>
    rows.some(({ tokenId, kind }) => tokenId === one.tokenId && kind === one.kind);
  return found.filter(isNew);
}

/** Counts the disagreements of each network that mints. */
export async function countDisagreements(db: Database): Promise<{ chainId: string; count: number }[]> {
  const { rows }: { rows: { chainId: string; count: number }[] } = await db.raw(
    `SELECT c.chain_id AS "chainId", count(d.kind)::int AS count FROM mint_contracts c
     LEFT JOIN mint_disagreements d ON d.chain_id = c.chain_id AND d.contract = c.contract GROUP BY c.chain_id`,
  );
  return rows;
}

/**
 * Takes the turn to compare the contract of the network that was compared longest ago, when none of the network was
 * within the last seconds: processes share the rate.
 */
export async function takeComparison(
  db: Database,
  chainId: string,
  restSeconds: number,
): Promise<ComparedContract | undefined> {
  const { rows }: { rows: Row[] } = await db.raw(
    `UPDATE mint_contracts SET compared_at = clock_timestamp()
     WHERE (chain_id, contract) IN (
       SELECT chain_id, contract FROM mint_contracts WHERE chain_id = :chainId
       ORDER BY compared_at NULLS FIRST LIMIT 1 FOR UPDATE SKIP LOCKED)
     AND NOT EXISTS (SELECT 1 FROM mint_contracts WHERE chain_id = :chainId
       AND compared_at > clock_timestamp() - make_interval(secs => :restSeconds))
     RETURNING ${columns}`,
    { chainId, restSeconds },
  );
  return rows.map(toContract)[0];
}

/** Stores how far the comparison of a contract has come. */
export async function setCompared(
  db: Database,
  { chainId, contract }: ContractId,
  comparedTo: bigint,
): Promise<void> {
  await db.raw(
    `INSERT INTO mint_contracts AS c (chain_id, contract, deployment_id, compared_to)
     SELECT :chainId, :contract, id, :comparedTo FROM deployment
     ON CONFLICT (chain_id, contract) DO UPDATE SET compared_to = greatest(c.compared_to, excluded.compared_to)`,
    { chainId, contract, comparedTo: comparedTo.toString() },
  );
}

/** Stores why nothing is sent to a contract; undefined when something is. The time of a pause stays while its reason does. */
export async function setContractPause(
  db: Database,
  { chainId, contract }: ContractId,
  pause: { readonly reason: string; readonly detail: string } | undefined,
): Promise<void> {
  await db.raw(
    `INSERT INTO mint_contracts AS c (chain_id, contract, deployment_id, pause_reason, pause_detail, paused_at)
     SELECT :chainId, :contract, id, :reason::text, :detail, CASE WHEN :reason::text IS NOT NULL THEN clock_timestamp() END
     FROM deployment
     ON CONFLICT (chain_id, contract) DO UPDATE SET pause_reason = excluded.pause_reason,
       pause_detail = excluded.pause_detail,
       paused_at = CASE WHEN c.pause_reason = excluded.pause_reason THEN c.paused_at ELSE excluded.paused_at END
     WHERE (c.pause_reason, c.pause_detail) IS DISTINCT FROM (excluded.pause_reason, excluded.pause_detail)`,
    { chainId, contract, reason: pause?.reason ?? null, detail: pause?.detail ?? null },
  );
}

/** Lists the signers of a network's lanes. */
export async function listSigners(db: Database, chainId: string): Promise<string[]> {
  const rows: { signer: string }[] = await db('mint_lanes').select('signer').where('chain_id', chainId);
  return rows.map(({ signer }) => signer);
}
