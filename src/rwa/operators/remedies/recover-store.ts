import type { Database } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { leastTimedNumber } from '../../assets/token-id.ts';
import { mintChannel } from '../../minting/accept/mint-queue.ts';
import { namedContracts } from '../../minting/compare/named-contracts-sql.ts';
import { unmintNfts } from '../../minting/mint-state-store.ts';

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

/**
 * Reopens the transactions of a signer whose nonces the chain has not used, though they had ended: it was rolled back. Their lane
 * sends the stored bytes again. What they had minted is no longer minted.
 * @param count how many transactions of the signer the chain has
 * @returns how many transactions
 */
export async function reopenTransactions(
  db: Database,
  { chainId, signer }: { readonly chainId: string; readonly signer: string },
  count: bigint,
): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { rows }: { rows: { id: string }[] } = await tx.raw(
      `UPDATE mint_transactions SET state = 'submitted', mined_hash = NULL, block_number = NULL, block_hash = NULL,
         updated_at = now()
       WHERE chain_id = :chainId AND signer = :signer AND nonce >= :count::bigint AND state <> 'submitted' RETURNING id`,
      { chainId, signer, count: count.toString() },
    );
    const ids = rows.map(({ id }) => id);
    const links: { rows: { nft_id: string }[] } = await tx.raw(
      `UPDATE mint_transaction_nfts SET state = 'open', found_tx = NULL, found_block = NULL, found_block_hash = NULL
       WHERE transaction_id = ANY (?::uuid[]) AND state IN ('open', 'minted') RETURNING nft_id`,
      [ids],
    );
    await unmintNfts(
      tx,
      links.rows.map(({ nft_id: id }) => id),
    );
    return ids.length;
  });
}

/** Lists the NFTs of the transactions that {@link reopenTransactions} would reopen. */
export async function listNftsToReopen(
  db: Database,
  { chainId, signer }: { readonly chainId: string; readonly signer: string },
  count: bigint,
): Promise<string[]> {
  const { rows }: { rows: { nft_id: string }[] } = await db.raw(
    `SELECT l.nft_id FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id
     WHERE t.chain_id = :chainId AND t.signer = :signer AND t.nonce >= :count::bigint AND t.state <> 'submitted'
       AND l.state IN ('open', 'minted')`,
    { chainId, signer, count: count.toString() },
  );
  return rows.map(({ nft_id: id }) => id);
}

/** Forgets which blocks were final when RWAs were made: the chain has other blocks now. Searches begin by the time then. */
export async function forgetFinalBlocks(db: Database, chainId: string): Promise<void> {
  await db.raw(
    `UPDATE rwas SET final_block = 0 WHERE chain_id = ? AND final_block > 0 AND number >= ${leastTimedNumber}`,
    [chainId],
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
    await tx.raw(`SELECT pg_notify('${mintChannel}', '')`);
  });
}
