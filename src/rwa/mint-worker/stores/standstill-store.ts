import type { Database, Tx } from '../../../contract/transaction.ts';
import { stateOfRow } from '../../assets/mint-state-sql.ts';
import { standingReasonSql } from '../../assets/reason-sql.ts';
import type { MintReason } from '../../minting/mint-reason.ts';
import type { LaneId } from './lane-store.ts';
import { inLine, isOfLine, type QueuedLine } from './queued-nft-store.ts';

/*
 * NFTs that do not move though nothing says why: rows of `mint_notes` with the reason `unexplained`.
 */

/** What the lane knows of its transactions, by their ids. One that settles needs no reason. */
type Known = ReadonlyMap<string, { readonly answer?: string; readonly isSettling?: boolean }>;

type Still = {
  readonly lane: LaneId;
  /** For how long an NFT must not have moved. */
  readonly seconds: number;
};

const isUnexplained = `n.updated_at < clock_timestamp() - make_interval(secs => :seconds)
  AND NOT EXISTS (SELECT FROM mint_notes m WHERE m.nft_id = n.id) AND ${standingReasonSql('n')} IS NULL`;

// The most NFTs that one sweep notes. The next sweep goes on.
const most = 1_000;

/** Notes NFTs in transactions of the lane that have not moved and have no other reason. @param pause why it does not send */
export async function noteStillSubmitted(
  tx: Tx,
  { lane, seconds }: Still,
  known: Known,
  pause: MintReason | undefined,
): Promise<void> {
  await tx.raw(
    `INSERT INTO mint_notes (nft_id, reason, detail)
     SELECT n.id, 'unexplained', format('Submitted with nonce %s in %s attempts, the last %s. The node last said: %s.',
       t.nonce, a.attempts, a.hash, coalesce(w.answer, 'nothing'))
     FROM mint_transactions t
       JOIN mint_transaction_nfts o ON o.transaction_id = t.id AND o.state = 'open'
       JOIN nfts n ON n.id = o.nft_id AND ${stateOfRow('n')} = 'submitted'
       CROSS JOIN LATERAL (SELECT count(*) AS attempts, (array_agg(hash ORDER BY number DESC))[1] AS hash
         FROM mint_attempts WHERE transaction_id = t.id) a
       LEFT JOIN unnest(:ids::uuid[], :answers::text[]) AS w (id, answer) ON w.id = t.id
     WHERE t.chain_id = :chainId AND t.signer = :signer AND t.state IN ('submitted', 'confirmed') AND ${isUnexplained}
       AND coalesce(mint_reason_of_sending(:pause), true) AND t.id <> ALL (:settling::uuid[])
     LIMIT ${most} ON CONFLICT DO NOTHING`,
    {
      ...lane,
      seconds,
      pause: pause ?? null,
      settling: [...known].flatMap(([id, { isSettling }]) => (isSettling ? [id] : [])),
      ids: [...known.keys()],
      answers: [...known.values()].map(({ answer = null }) => answer),
    },
  );
}

/** Notes NFTs in transactions of the lane that wait for nodes to agree on what is final. */
export async function noteWaitingForFinality(
  tx: Tx,
  { lane, seconds }: Still,
  detail: string,
): Promise<void> {
  await tx.raw(
    `INSERT INTO mint_notes (nft_id, reason, detail)
     SELECT n.id, 'finality_unknown', :detail FROM mint_transactions t
       JOIN mint_transaction_nfts o ON o.transaction_id = t.id AND o.state = 'open'
       JOIN nfts n ON n.id = o.nft_id AND ${stateOfRow('n')} = 'submitted'
     WHERE t.chain_id = :chainId AND t.signer = :signer AND t.state IN ('submitted', 'confirmed') AND ${isUnexplained}
     LIMIT ${most} ON CONFLICT DO NOTHING`,
    { ...lane, seconds, detail },
  );
}

// Transactions from before NFTs could have moved again. A few of them have the NFTs that were queued last.
const sentBefore = `
  SELECT q.mint_contract AS contract, q.company_id, max(q.queued_at) AS queued_at FROM (
    SELECT id FROM mint_transactions
    WHERE chain_id = :chainId AND signer = :signer AND rwa_id IS NULL
      AND created_at < clock_timestamp() - make_interval(secs => :seconds)
    ORDER BY nonce DESC LIMIT 20) t
  JOIN mint_transaction_nfts o ON o.transaction_id = t.id JOIN nfts q ON q.id = o.nft_id
  GROUP BY 1, 2`;

const newestSent = 'SELECT max(queued_at) FROM sent';

// The time lets PostgreSQL read a part of the index, and not all NFTs of the company. Lines take turns: while some of a line
// is sent, NFTs that were queued later in other lines may come first.
const hasTurns = `EXISTS (
  SELECT FROM nfts s WHERE s.company_id = l.company_id AND s.mint_contract = l.contract AND s.mint_chain_id = :chainId
    AND s.updated_at > now() - make_interval(secs => :seconds)
    AND ${stateOfRow('s')} IN ('submitted', 'minted'))`;

/**
 * Notes queued NFTs that the lane has passed by: it has sent some of their line that were queued later, or of any line
 * where it sends nothing of theirs, and that long ago.
 */
export async function notePassedBy(
  tx: Tx,
  { lane, seconds }: Still,
  lines: readonly QueuedLine[],
): Promise<void> {
  await tx.raw(
    `WITH sent AS (${sentBefore})
     INSERT INTO mint_notes (nft_id, reason, detail)
     SELECT n.id, 'unexplained', 'Queued, while NFTs that were queued later are sent.'
     FROM unnest(:contracts::text[], :companyIds::text[], :oldest::timestamptz[]) AS l (contract, company_id, oldest)
       LEFT JOIN sent USING (contract, company_id)
       CROSS JOIN LATERAL (
         SELECT CASE WHEN ${hasTurns} THEN sent.queued_at ELSE (${newestSent}) END AS queued_at OFFSET 0) passed
       CROSS JOIN LATERAL (
         SELECT n.id FROM nfts n WHERE n.mint_chain_id = :chainId AND n.mint_state = 'queued'
           AND ${isOfLine('l.contract', 'l.company_id')} AND n.queued_at < passed.queued_at AND ${isUnexplained}
         ORDER BY ${inLine} LIMIT ${most}) n
     WHERE l.oldest < (${newestSent})
     LIMIT ${most} ON CONFLICT DO NOTHING`,
    {
      ...lane,
      seconds,
      contracts: lines.map(({ contract }) => contract),
      companyIds: lines.map(({ companyId }) => companyId),
      oldest: lines.map(({ queuedAt }) => queuedAt),
    },
  );
}

/** Whether NFTs without a note are queued, and for so long neither moved nor saw anything sent by the lane. */
export async function isQueueStill(db: Database, { lane, seconds }: Still): Promise<boolean> {
  const { rows } = await db.raw(
    `SELECT FROM nfts n WHERE n.mint_chain_id = :chainId AND n.mint_state = 'queued'
       AND n.queued_at < now() - make_interval(secs => :seconds)
       AND n.updated_at < now() - make_interval(secs => :seconds)
       AND NOT EXISTS (SELECT FROM mint_notes m WHERE m.nft_id = n.id)
       AND NOT EXISTS (SELECT FROM mint_contracts c WHERE c.chain_id = n.mint_chain_id
         AND c.contract = n.mint_contract AND c.pause_reason IS NOT NULL)
       AND coalesce((SELECT t.created_at FROM mint_transactions t
         WHERE t.chain_id = :chainId AND t.signer = :signer AND t.rwa_id IS NULL ORDER BY t.nonce DESC LIMIT 1)
         < now() - make_interval(secs => :seconds), true)
     LIMIT 1`,
    { ...lane, seconds },
  );
  return rows.length > 0;
}

// A note and the change of its NFT are stored within less time.
const sameChange = `interval '5 seconds'`;

/**
 * Deletes notes on a network that are no longer true: the NFT has moved since, or its lanes have the reason. It skips notes
 * that another lane is deleting.
 */
export async function deleteOutdatedNotes(tx: Tx, chainId: string): Promise<void> {
  await tx.raw(
    `DELETE FROM mint_notes WHERE nft_id IN (
       SELECT m.nft_id FROM mint_notes m JOIN nfts n ON n.id = m.nft_id
       WHERE n.mint_chain_id = :chainId
         AND (n.mint_state NOT IN ('queued', 'submitted') OR n.updated_at > m.since + ${sameChange}
           OR (m.reason = 'unexplained' AND ${standingReasonSql('n')} IS NOT NULL)
           OR (m.reason = 'finality_unknown' AND NOT EXISTS (
             SELECT FROM mint_lanes l WHERE l.chain_id = :chainId AND l.pause_reason = 'finality_unknown')))
       FOR UPDATE OF m SKIP LOCKED)`,
    { chainId },
  );
}

/** How many NFTs wait for a reason of their own, or of their contract. */
export type NoteCount = {
  /** Decimal. */
  readonly chainId: string;
  readonly reason: MintReason;
  readonly nfts: number;
};

/** Counts the NFTs with notes, and those queued for contracts that are paused, by network and reason. */
export async function countNotes(db: Database): Promise<NoteCount[]> {
  const { rows } = await db.raw(
    `SELECT "chainId", reason, sum(nfts)::int AS nfts FROM (
       SELECT n.mint_chain_id AS "chainId", m.reason, count(*) AS nfts FROM mint_notes m JOIN nfts n ON n.id = m.nft_id
       WHERE ${stateOfRow('n')} IN ('queued', 'submitted') GROUP BY 1, 2
       UNION ALL
       SELECT c.chain_id, c.pause_reason, q.count FROM mint_contracts c CROSS JOIN LATERAL (
         SELECT count(*) FROM nfts n WHERE n.mint_chain_id = c.chain_id AND n.mint_state = 'queued'
           AND n.mint_contract = c.contract AND NOT EXISTS (SELECT FROM mint_notes m WHERE m.nft_id = n.id)) q
       WHERE c.pause_reason IS NOT NULL AND q.count > 0) w
     GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  return rows;
}
