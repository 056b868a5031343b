import type { Database, Tx } from '../../../contract/transaction.ts';
import type { Disagreement } from './compare-page.ts';
import { namedContracts } from './named-contracts-sql.ts';
import type { ContractId } from './token-row-store.ts';

/*
 * Table `mint_contracts`: the contracts that this deployment mints on, and how far they are compared with the rows.
 * Table `mint_disagreements`: what a comparison found. Table `mint_recoveries`: networks whose lanes send nothing,
 * because the chain knows more than the database.
 */

export type ClaimedContract = ContractId & {
  /** The last block that was compared; null when none was. */
  readonly comparedTo: bigint | null;
  /** Tokens without a row up to this block are known to be lost; null when none are. */
  readonly recoveredTo: bigint | null;
  /** Why nothing is sent to it; null when it is this deployment's. */
  readonly shared: string | null;
};

type Row = {
  chain_id: string;
  contract: string;
  compared_to: string | null;
  recovered_to: string | null;
  state: 'claimed' | 'shared';
  detail: string | null;
};

const columns = 'chain_id, contract, compared_to, recovered_to, state, detail';

const toBlock = (text: string | null) => (text === null ? null : BigInt(text));

const toContract = (row: Row): ClaimedContract => ({
  chainId: row.chain_id,
  contract: row.contract,
  comparedTo: toBlock(row.compared_to),
  recoveredTo: toBlock(row.recovered_to),
  shared: row.state === 'shared' ? (row.detail ?? '') : null,
});

export async function findClaimedContract(
  db: Database,
  { chainId, contract }: ContractId,
): Promise<ClaimedContract | undefined> {
  const { rows }: { rows: Row[] } = await db.raw(
    `SELECT ${columns} FROM mint_contracts WHERE chain_id = ? AND contract = ?`,
    [chainId, contract],
  );
  return rows.map(toContract)[0];
}

/** Lists the contracts on which a network's tokens are or can be minted: of its assets, and claimed ones. */
export async function listContracts(db: Database, chainId: string): Promise<string[]> {
  const { rows }: { rows: { contract: string }[] } = await db.raw(
    `WITH RECURSIVE ${namedContracts}
     SELECT contract FROM named WHERE contract IS NOT NULL
     UNION SELECT contract FROM mint_contracts WHERE chain_id = :chainId ORDER BY 1`,
    { chainId },
  );
  return rows.map(({ contract }) => contract);
}

/** Stores that this deployment mints on the contract, or, with a reason, that it must not. */
export async function claimContract(
  db: Database,
  { chainId, contract }: ContractId,
  shared?: string,
): Promise<void> {
  await db.raw(
    `INSERT INTO mint_contracts (chain_id, contract, deployment_id, state, detail)
     SELECT :chainId, :contract, id, :state, :shared FROM deployment
     ON CONFLICT (chain_id, contract) DO UPDATE SET state = excluded.state, detail = excluded.detail`,
    { chainId, contract, state: shared === undefined ? 'claimed' : 'shared', shared: shared ?? null },
  );
}

/** Why the lanes of a network wait for an operator to recover the database. */
export type Recovery = {
  readonly reason: 'recovery_needed' | 'contract_shared';
  /** The reason in words. */
  readonly detail: string;
};

/** @returns undefined when nothing is to be recovered */
export async function findRecovery(db: Database, chainId: string): Promise<Recovery | undefined> {
  const { rows }: { rows: Recovery[] } = await db.raw(
    'SELECT reason, detail FROM mint_recoveries WHERE chain_id = ?',
    [chainId],
  );
  return rows[0];
}

/** Lets the lanes of a network wait until it is recovered. The first reason stays. */
export async function beginRecovery(
  db: Database,
  chainId: string,
  { reason, detail }: Recovery,
): Promise<void> {
  await db.raw(
    `INSERT INTO mint_recoveries (chain_id, reason, detail) VALUES (:chainId, :reason, :detail)
     ON CONFLICT DO NOTHING`,
    { chainId, reason, detail },
  );
}

/** Stores disagreements that are not known yet. @returns those that are new */
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
 * Takes the turn to compare one contract of the network, the one that was compared longest ago, when none of the
 * network was within the last seconds: processes share the rate.
 */
export async function takeComparison(
  db: Database,
  chainId: string,
  restSeconds: number,
): Promise<ClaimedContract | undefined> {
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
  await db.raw('UPDATE mint_contracts SET compared_to = ? WHERE chain_id = ? AND contract = ?', [
    comparedTo.toString(),
    chainId,
    contract,
  ]);
}

/** Lists the signers of a network's lanes. */
export async function listSigners(db: Database, chainId: string): Promise<string[]> {
  const rows: { signer: string }[] = await db('mint_lanes').select('signer').where('chain_id', chainId);
  return rows.map(({ signer }) => signer);
}
