import type { Database } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { mintChannel } from '../../minting/accept/mint-queue.ts';
import { namedContracts } from '../../minting/compare/named-contracts-sql.ts';

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
    await tx.raw(`SELECT pg_notify('${mintChannel}', '')`);
  });
}
