import type { Tx } from '../../contract/transaction.ts';
import type { MintReason } from './mint-reason.ts';

/*
 * Table `mint_notes`: why NFTs that are queued or submitted do not move, where the reason is their own and not that of
 * their lane.
 */

export type MintNote = {
  readonly nftId: string;
  readonly reason: MintReason;
  /** The reason in words, for operators. */
  readonly detail: string;
};

/**
 * Stores notes in place of earlier notes. A note with the same reason keeps the time of its beginning. An NFT whose row
 * another transaction has locked gets none: the foreign key would wait for it.
 */
export async function saveMintNotes(tx: Tx, notes: readonly MintNote[]): Promise<void> {
  if (notes.length === 0) return;
  await tx.raw(
    `INSERT INTO mint_notes AS m (nft_id, reason, detail)
     SELECT f.* FROM unnest(?::uuid[], ?::text[], ?::text[]) AS f (id, reason, detail) JOIN nfts n USING (id)
     FOR KEY SHARE OF n SKIP LOCKED
     ON CONFLICT (nft_id) DO UPDATE SET reason = excluded.reason, detail = excluded.detail,
       since = CASE WHEN m.reason = excluded.reason THEN m.since ELSE excluded.since END
     WHERE m.reason <> excluded.reason OR m.detail <> excluded.detail`,
    [notes.map(({ nftId }) => nftId), notes.map(({ reason }) => reason), notes.map(({ detail }) => detail)],
  );
}

/** Deletes the notes of NFTs whose reason is gone. */
export async function deleteMintNotes(tx: Tx, nftIds: readonly string[]): Promise<void> {
  if (nftIds.length === 0) return;
  await tx.raw('DELETE FROM mint_notes WHERE nft_id = ANY (?::uuid[])', [[...nftIds]]);
}
