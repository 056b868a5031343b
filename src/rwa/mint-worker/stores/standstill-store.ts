import type { Database, Tx } from '../../../contract/transaction.ts';
import { stateOfRow } from '../../assets/mint-state-sql.ts';
import { standingReasonSql } from '../../assets/reason-sql.ts';
import type { MintReason } from '../../minting/mint-reason.ts';
import type { LaneId, Pause } from './lane-store.ts';

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

// The most NFTs that one sweep notes. The next sweep goes on.
const most = 1_000;

/** Why a lane does not send, and why no block becomes final, in words; undefined where it is otherwise. */
type Reasons = { readonly pause?: Pause | undefined; readonly notFinal?: string | undefined };

/**
 * Notes NFTs in transactions of the lane that have not moved and have no other reason. One that settles waits for nodes to agree on
 * what is final, whatever the lane pauses for. Rows that are locked are left to a later sweep.
 */
export async function noteStillSubmitted(
  tx: Tx,
  { lane, seconds }: Still,
  known: Known,
  { pause, notFinal }: Reasons,
): Promise<void> {
  await tx.raw(
    `INSERT INTO mint_notes (nft_id, reason, detail)
     SELECT n.id, CASE WHEN s.settles THEN 'finality_unknown' ELSE 'unexplained' END,
       CASE WHEN s.settles THEN :notFinal::text
         ELSE format('Submitted with nonce %s in %s attempts, the last %s. The node last said: %s.',
           t.nonce, a.attempts, a.hash, coalesce(w.answer, 'nothing')) END
     FROM mint_transactions t
       CROSS JOIN LATERAL (SELECT t.id = ANY (:settling::uuid[]) AS settles) s
       JOIN mint_transaction_nfts o ON o.transaction_id = t.id AND o.state = 'open'
       JOIN nfts n ON n.id = o.nft_id AND ${stateOfRow('n')} = 'submitted'
       CROSS JOIN LATERAL (SELECT count(*) AS attempts, (array_agg(hash ORDER BY number DESC))[1] AS hash
         FROM mint_attempts WHERE transaction_id = t.id) a
       LEFT JOIN unnest(:ids::uuid[], :answers::text[]) AS w (id, answer) ON w.id = t.id
     WHERE t.chain_id = :chainId AND t.signer = :signer AND t.state IN ('submitted', 'confirmed')
       AND n.updated_at < clock_timestamp() - make_interval(secs => :seconds)
       AND NOT EXISTS (SELECT FROM mint_notes m WHERE m.nft_id = n.id) AND ${standingReasonSql('n')} IS NULL
       AND CASE WHEN s.settles THEN :notFinal::text IS NOT NULL ELSE coalesce(mint_reason_of_sending(:reason::text), true) END
     LIMIT ${most} FOR KEY SHARE OF n SKIP LOCKED ON CONFLICT DO NOTHING`,
    {
      ...lane,
      seconds,
      reason: pause?.reason ?? null,
      notFinal: notFinal ?? null,
      settling: [...known].flatMap(([id, { isSettling }]) => (isSettling ? [id] : [])),
      ids: [...known.keys()],
      answers: [...known.values()].map(({ answer = null }) => answer),
    },
  );
}

/**
 * Notes that NFTs which were left out of transactions of a lane without its key wait for the key: without it no nonce may become
 * final.
 */
export async function noteAbsentSigner(tx: Tx, lane: LaneId, { reason, detail }: Pause): Promise<void> {
  await tx.raw(
    `UPDATE mint_notes m SET reason = :reason, detail = :detail, since = clock_timestamp()
     FROM mint_transaction_nfts o JOIN mint_transactions t ON t.id = o.transaction_id
     WHERE m.nft_id = o.nft_id AND m.reason = 'left_out' AND o.state = 'open'
       AND t.chain_id = :chainId AND t.signer = :signer AND t.state = 'submitted'`,
    { ...lane, reason, detail },
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
 * Deletes notes on the network of a lane that are no longer true: the NFT has moved since, its lanes have the reason, or the lane with
 * its transaction sees blocks become final. It skips notes that another lane is deleting.
 */
export async function deleteOutdatedNotes(
  tx: Tx,
  lane: LaneId,
  notFinal: Reasons['notFinal'],
): Promise<void> {
  await tx.raw(
    `DELETE FROM mint_notes WHERE nft_id IN (
       SELECT m.nft_id FROM mint_notes m JOIN nfts n ON n.id = m.nft_id
       WHERE n.mint_chain_id = :chainId
         AND (n.mint_state NOT IN ('queued', 'submitted') OR n.updated_at > m.since + ${sameChange}
           OR (m.reason = 'unexplained' AND ${standingReasonSql('n')} IS NOT NULL)
           OR (m.reason = 'no_signer' AND NOT EXISTS (
             SELECT FROM mint_lanes l WHERE l.chain_id = :chainId AND l.pause_reason = m.reason))
           OR (m.reason = 'finality_unknown' AND :isFinal::boolean AND EXISTS (
             SELECT FROM mint_transaction_nfts o JOIN mint_transactions t ON t.id = o.transaction_id
             WHERE o.nft_id = m.nft_id AND o.state = 'open' AND t.chain_id = :chainId AND t.signer = :signer)))
       FOR UPDATE OF m SKIP LOCKED)`,
    { chainId: lane.chainId, signer: lane.signer, isFinal: notFinal === undefined },
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
