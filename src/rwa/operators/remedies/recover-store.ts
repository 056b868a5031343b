import type { Database, Tx } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { leastTimedNumber } from '../../assets/token-id.ts';
import { mintChannel } from '../../minting/accept/mint-queue.ts';
import { namedContracts } from '../../minting/compare/named-contracts-sql.ts';
import { saveMintNotes } from '../../minting/mint-note-store.ts';
import { resubmitNfts, unmintNfts } from '../../minting/mint-state-store.ts';

/*
 * The ends of a recovery: lanes go on above the nonces of the chain, and contracts are compared anew.
 */

/** Raises the lowest nonce that a lane may use. */
export async function raiseNonceFloor(
  db: Database,
  { chainId, signer }: { readonly chainId: string; readonly signer: string },
  count: bigint,
): Promise<void> {
  await db.raw(
    `UPDATE mint_lanes SET nonce_floor = greatest(nonce_floor, :count::bigint)
     WHERE chain_id = :chainId AND signer = :signer`,
    { chainId, signer, count: count.toString() },
  );
}

/** How many transactions of a signer the chain has, as far as it is final and in all. */
export type ChainCounts = { readonly final: bigint; readonly latest: bigint };

type SignerId = { readonly chainId: string; readonly signer: string };

// What was final is so no more above the final count. What was confirmed is watched all the same.
const isLost = `chain_id = :chainId AND signer = :signer AND (
  (state IN ('finalized', 'reverted', 'lost') AND nonce >= :final::bigint) OR (state = 'confirmed' AND nonce >= :latest::bigint))`;

const lostBindings = ({ chainId, signer }: SignerId, { final, latest }: ChainCounts) => ({
  chainId,
  signer,
  final: final.toString(),
  latest: latest.toString(),
});

/** Counts the transactions that {@link reopenTransactions} would reopen. */
export async function countLost(db: Database, id: SignerId, counts: ChainCounts): Promise<number> {
  const { rows } = await db.raw(
    `SELECT count(*)::int AS count FROM mint_transactions WHERE ${isLost}`,
    lostBindings(id, counts),
  );
  return rows[0].count;
}

/**
 * Reopens the transactions of a signer that had ended, and whose nonces the chain has not used for good any more: it was rolled
 * back. Their lane sends again what they had minted. What they had not minted, or what another transaction minted, is left out of
 * them, and waits until their nonce is final.
 * @returns how many transactions
 */
export async function reopenTransactions(db: Database, id: SignerId, counts: ChainCounts): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { rows }: { rows: { id: string }[] } = await tx.raw(
      `UPDATE mint_transactions SET state = 'submitted', mined_hash = NULL, block_number = NULL, block_hash = NULL,
         updated_at = now()
       WHERE ${isLost} RETURNING id`,
      lostBindings(id, counts),
    );
    const ids = rows.map((row) => row.id);
    // Nothing is concluded from the end of a transaction that is in flight again.
    await tx('mint_unproven_transactions').whereIn('transaction_id', ids).delete();
    await reopenOwnMints(tx, ids);
    await leaveOutEnded(tx, ids);
    return ids.length;
  });
}

const isOwnMint = `(l.state = 'open' OR (l.state = 'minted'
  AND EXISTS (SELECT FROM mint_attempts a WHERE a.transaction_id = l.transaction_id AND a.hash = n.minted_tx)))`;

/** Lists the NFTs whose mints {@link reopenTransactions} would take back. */
export async function listNftsToReopen(db: Database, id: SignerId, counts: ChainCounts): Promise<string[]> {
  const { rows }: { rows: { nft_id: string }[] } = await db.raw(
    `SELECT l.nft_id FROM mint_transaction_nfts l JOIN nfts n ON n.id = l.nft_id
     WHERE l.transaction_id IN (SELECT id FROM mint_transactions WHERE ${isLost}) AND ${isOwnMint}`,
    lostBindings(id, counts),
  );
  return rows.map((row) => row.nft_id);
}

/** Reopens the NFTs that these transactions had minted, or whose outcome was open. */
async function reopenOwnMints(tx: Tx, transactionIds: readonly string[]): Promise<void> {
  const { rows }: { rows: { nft_id: string }[] } = await tx.raw(
    `UPDATE mint_transaction_nfts l SET state = 'open', found_tx = NULL, found_block = NULL, found_block_hash = NULL
     FROM nfts n WHERE l.transaction_id = ANY (?::uuid[]) AND n.id = l.nft_id AND ${isOwnMint}
     RETURNING l.nft_id`,
    [[...transactionIds]],
  );
  await unmintNfts(
    tx,
    rows.map((row) => row.nft_id),
  );
}

/**
 * Leaves the other NFTs out of these transactions. Those that are in no open transaction are submitted again, each in the last of
 * these that had it.
 */
async function leaveOutEnded(tx: Tx, transactionIds: readonly string[]): Promise<void> {
  await tx.raw(
    `UPDATE mint_transaction_nfts SET ended_as = 'queued' WHERE transaction_id = ANY (?::uuid[]) AND state <> 'open'`,
    [[...transactionIds]],
  );
  const { rows }: { rows: { id: string; nftIds: string[] }[] } = await tx.raw(
    `SELECT e.transaction_id AS id, array_agg(e.nft_id) AS "nftIds" FROM (
       SELECT DISTINCT ON (l.nft_id) l.nft_id, l.transaction_id
       FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id JOIN nfts n ON n.id = l.nft_id
       WHERE t.id = ANY (?::uuid[]) AND l.state <> 'open' AND (n.mint_state <> 'minted' OR l.state = 'minted')
         AND NOT EXISTS (SELECT FROM mint_transaction_nfts o WHERE o.nft_id = l.nft_id AND o.state = 'open')
       ORDER BY l.nft_id, t.nonce DESC) e
     GROUP BY 1 ORDER BY 1`,
    [[...transactionIds]],
  );
  const detail =
    'The chain has lost its transaction, in which it had ended; it waits until that nonce is final.';
  for (const { id, nftIds } of rows) {
    const submitted = await resubmitNfts(tx, id, nftIds);
    await saveMintNotes(
      tx,
      submitted.map((nftId) => ({ nftId, reason: 'left_out', detail })),
    );
  }
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
