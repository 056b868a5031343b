import { randomUUID } from 'node:crypto';
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

type SealedRow = { readonly id: string; readonly secret_cipher: Buffer };

const sampleSize = 5;

/** A few secrets that are sealed with the key, from anywhere among them. */
async function sampleSealed(db: Database, keyId: string): Promise<SealedRow[]> {
  const { rows }: { rows: SealedRow[] } = await db.raw(
    `(SELECT id, secret_cipher FROM nfts WHERE secret_key_id = :keyId AND id >= :from::uuid ORDER BY id LIMIT :size)
     UNION (SELECT id, secret_cipher FROM nfts WHERE secret_key_id = :keyId ORDER BY id LIMIT :size)`,
    { keyId, from: randomUUID(), size: sampleSize },
  );
  return rows;
}

/** How many of a few secrets of a key open. */
export type OpenedSample = { readonly keyId: string; readonly opened: number; readonly tried: number };

/** Opens a few stored secrets of each key in use. Leaves keys out that the vault does not have. */
export async function openSamples(db: Database, vault: ClaimSecretVault): Promise<OpenedSample[]> {
  const known = (await listKeysInUse(db)).filter((id) => vault.knows(id));
  return Promise.all(
    known.map(async (keyId) => {
      const rows = await sampleSealed(db, keyId);
      const opened = rows.filter((row) => opens(vault, keyId, row)).length;
      return { keyId, opened, tried: rows.length };
    }),
  );
}

function opens(vault: ClaimSecretVault, keyId: string, { id, secret_cipher: cipher }: SealedRow): boolean {
  try {
    vault.open(id, { cipher, keyId });
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks that the vault has the key of every stored claim secret, and that each opens what it has sealed.
 * @throws Error naming the keys that are missing or have other bytes
 */
export async function assertKeysOpen(db: Database, vault: ClaimSecretVault): Promise<void> {
  await assertKeysKnown(db, vault);
  // One that does not open while others do is damaged, and no reason to serve nobody.
  const other = (await openSamples(db, vault)).filter(({ opened, tried }) => tried > 0 && opened === 0);
  if (other.length === 0) return;
  const ids = other.map(({ keyId }) => keyId).join(', ');
  throw new Error(
    `SECRET_KEYS has other bytes under the id ${ids} than the key that sealed the stored claim secrets. ` +
      'Give this id its former bytes; a new key needs an id of its own.',
  );
}
