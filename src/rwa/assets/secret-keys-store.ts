import type { Database } from '../../contract/transaction.ts';
import type { ClaimSecretVault } from './claim-secret.ts';

/** Lists the ids of the keys that stored claim secrets are encrypted with, in ascending order. */
export async function listKeysInUse(db: Database): Promise<string[]> {
  // Hops from one id to the next in the index instead of reading every row, so that a start stays quick with
  // millions of NFTs.
  const { rows }: { rows: { id: string }[] } = await db.raw(
    `WITH RECURSIVE used (id) AS (
       (SELECT secret_key_id FROM nfts ORDER BY secret_key_id LIMIT 1)
       UNION ALL
       SELECT (SELECT secret_key_id FROM nfts WHERE secret_key_id > used.id ORDER BY secret_key_id LIMIT 1)
       FROM used WHERE used.id IS NOT NULL
     )
     SELECT id FROM used WHERE id IS NOT NULL`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Checks that the vault has the key of every stored claim secret.
 * @throws Error naming the missing keys
 */
export async function assertKeysKnown(db: Database, vault: ClaimSecretVault): Promise<void> {
  const missing = (await listKeysInUse(db)).filter((id) => !vault.knows(id));
  if (missing.length > 0) {
    throw new Error(`SECRET_KEYS lacks keys that claim secrets are encrypted with: ${missing.join(', ')}`);
  }
}
