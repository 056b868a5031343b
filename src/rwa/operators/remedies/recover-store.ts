import type { Database, Tx } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { leastTimedNumber } from '../../assets/token-id.ts';
import { mintChannel } from '../../minting/accept/mint-queue.ts';
import { namedContracts } from '../../minting/compare/named-contracts-sql.ts';
import { saveMintNotes } from '../../minting/mint-note-store.ts';
import { keepOut, keptOut, lockNfts, unmintNfts } from '../../minting/mint-state-store.ts';

/* The ends of a recovery: lanes go on above the nonces of the chain, and contracts are compared again. */

/**
 * Sets the lowest nonce that a lane may use. @param isRolledBack whether the chain has lost transactions, so that it may be lower than
 * before
 */
export async function setNonceFloor(
  db: Database,
  { chainId, signer }: { readonly chainId: string; readonly signer: string },
  count: bigint,
  isRolledBack: boolean,
): Promise<void> {
  await db.raw(
    `UPDATE mint_lanes SET nonce_floor = CASE WHEN :isRolledBack THEN :count::bigint ELSE greatest(nonce_floor, :count::bigint) END
     WHERE chain_id = :chainId AND signer = :signer`,
    { chainId, signer, count: count.toString(), isRolledBack },
  );
}

/** How many transactions of a signer the chain has, as far as it is final and in all. */
export type SignerCounts = { readonly signer: string; readonly final: bigint; readonly latest: bigint };

/** What a rollback of the chain reopens. */
type Reopened = { readonly transactions: number; readonly nftIds: readonly string[] };

/**
 * Reopens the transactions that had ended, and whose nonces the chain has not used for good any more: it was rolled back. Their
 * lanes send again what they had minted. What they had not minted, or may mint under another token, is left out of them, and
 * waits until the nonces are final. One transaction of the database for all signers: an NFT may have been in transactions of several.
 * @param isDry changes nothing, and returns the same
 */
export async function reopenTransactions(
  db: Database,
  chainId: string,
  counts: readonly SignerCounts[],
  isDry: boolean,
): Promise<Reopened> {
  return inTransaction(db, async (tx) => {
    await tx.raw('SAVEPOINT dry');
    // Final transactions are not final above the final count any more. Confirmed transactions are watched all the same.
    const { rows }: { rows: { id: string }[] } = await tx.raw(
      `UPDATE mint_transactions t SET state = 'submitted', mined_hash = NULL, block_number = NULL, block_hash = NULL,
         updated_at = now()
       FROM unnest(?::text[], ?::bigint[], ?::bigint[]) AS c (signer, final, latest)
       WHERE t.chain_id = ? AND t.signer = c.signer AND (
         (t.state IN ('finalized', 'reverted', 'lost') AND t.nonce >= c.final) OR (t.state = 'confirmed' AND t.nonce >= c.latest))
       RETURNING t.id`,
      [
        counts.map(({ signer }) => signer),
        counts.map(({ final }) => final.toString()),
        counts.map(({ latest }) => latest.toString()),
        chainId,
      ],
    );
    const ids = rows.map((row) => row.id);
    // Nothing is concluded from the end of a transaction that is in flight again.
    await tx('mint_unproven_transactions').whereIn('transaction_id', ids).delete();
    await lockNftsOf(tx, ids);
    const nftIds = [...(await reopenOwnMints(tx, ids)), ...(await leaveOutEnded(tx, ids))];
    if (isDry) await tx.raw('ROLLBACK TO SAVEPOINT dry');
    return { transactions: ids.length, nftIds };
  });
}

async function lockNftsOf(tx: Tx, transactionIds: readonly string[]): Promise<void> {
  const ids: string[] = await tx('mint_transaction_nfts')
    .whereIn('transaction_id', [...transactionIds])
    .distinct()
    .pluck('nft_id');
  await lockNfts(tx, ids);
}

/** Reopens the NFTs that these transactions had minted, or whose outcome was open. @returns the ids */
async function reopenOwnMints(tx: Tx, transactionIds: readonly string[]): Promise<string[]> {
  const { rows }: { rows: { nft_id: string }[] } = await tx.raw(
    `UPDATE mint_transaction_nfts l SET state = 'open', found_tx = NULL, found_block = NULL, found_block_hash = NULL
     FROM nfts n WHERE l.transaction_id = ANY (?::uuid[]) AND n.id = l.nft_id AND (l.state = 'open' OR (l.state = 'minted'
       AND EXISTS (SELECT FROM mint_attempts a WHERE a.transaction_id = l.transaction_id AND a.hash = n.minted_tx)))
     RETURNING l.nft_id`,
    [[...transactionIds]],
  );
  const ids = rows.map((row) => row.nft_id);
  await unmintNfts(tx, ids);
  return ids;
}

/**
 * Leaves the other NFTs out of these transactions, and out of transactions that have another token of the NFTs.
 * @returns the NFTs that are kept out
 */
async function leaveOutEnded(tx: Tx, transactionIds: readonly string[]): Promise<Iterable<string>> {
  const { rows }: { rows: { nft_id: string }[] } = await tx.raw(
    `UPDATE mint_transaction_nfts l SET ended_reason = coalesce(o.ended_reason, n.mint_error), ended_as = coalesce(o.ended_as,
       CASE WHEN n.mint_state IN ('submitted', 'minted') THEN 'queued' ELSE n.mint_state END)
     FROM nfts n LEFT JOIN mint_transaction_nfts o ON o.nft_id = n.id AND o.state = 'open'
     WHERE l.transaction_id = ANY (?::uuid[]) AND l.state <> 'open' AND n.id = l.nft_id RETURNING l.nft_id`,
    [[...transactionIds]],
  );
  const ids = rows.map((row) => row.nft_id);
  // The contract mints a token once. It would mint two tokens.
  const { rows: rivals }: { rows: { nft_id: string; mint_state: string }[] } = await tx.raw(
    `UPDATE mint_transaction_nfts l SET asked_out = true, ended_as = coalesce(l.ended_as, 'queued')
     FROM nfts n WHERE n.id = l.nft_id AND n.id = ANY (?::uuid[]) AND l.state = 'open' AND EXISTS (SELECT FROM mint_transaction_nfts o
       WHERE o.nft_id = l.nft_id AND o.token_id <> l.token_id AND o.ended_as IS NOT NULL)
     RETURNING n.id AS nft_id, n.mint_state`,
    [ids],
  );
  const waiting = rivals.filter(({ mint_state: state }) => state === 'submitted');
  await saveMintNotes(
    tx,
    waiting.map(({ nft_id: nftId }) => ({ nftId, reason: 'left_out', detail: keptOut })),
  );
  return keepOut(tx, ids);
}

/**
 * Forgets which blocks were final when RWAs were made: the chain has other blocks now. Searches begin by the time then.
 * @param above forgets those above this block only
 */
export async function forgetFinalBlocks(db: Database, chainId: string, above = 0n): Promise<void> {
  await db.raw(
    `UPDATE rwas SET final_block = 0 WHERE chain_id = ? AND final_block > ?::numeric AND number >= ${leastTimedNumber}`,
    [chainId, above.toString()],
  );
}

/** Lets the lanes of a network go on: everything up to this block is recovered. */
export async function endRecovery(db: Database, chainId: string, recoveredTo: bigint): Promise<void> {
  await inTransaction(db, async (tx) => {
    await tx.raw('DELETE FROM mint_disagreements WHERE chain_id = ?', [chainId]);
    await tx.raw(
      `INSERT INTO mint_contracts (chain_id, contract, deployment_id, recovered_to)
       WITH RECURSIVE ${namedContracts}
       SELECT :chainId::bigint, n.contract, d.id, :block::numeric FROM named n CROSS JOIN deployment d
       WHERE n.contract IS NOT NULL
       ON CONFLICT (chain_id, contract) DO UPDATE SET state = 'claimed', detail = NULL, compared_to = NULL,
         recovered_to = excluded.recovered_to`,
      { chainId, block: recoveredTo.toString() },
    );
    await tx.raw('DELETE FROM mint_recoveries WHERE chain_id = ?', [chainId]);
    // Nodes agree on the final block again.
    await tx.raw('DELETE FROM network_finality WHERE chain_id = ?', [chainId]);
    // Of RWAs that were made while a block counted as final that the chain has lost.
    await forgetFinalBlocks(tx, chainId, recoveredTo);
    await tx.raw(`SELECT pg_notify('${mintChannel}', '')`);
  });
}
