import type { Database, Tx } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { assertKeysKnown, listKeysInUse } from '../assets/secret-keys-store.ts';

type SealedRow = { id: string; secret_cipher: Buffer; secret_key_id: string };

/** Sorts before every id of an NFT. */
const nilId = '00000000-0000-0000-0000-000000000000';

export type RotationOptions = {
  /** Rows that one transaction re-encrypts, and so locks, at most. */
  readonly batch?: number;
  readonly onProgress?: (done: number, total: number) => void;
};

export type Rotation = {
  readonly rotated: number;
  /** Ids of NFTs whose secret cannot be decrypted. They stay as they are and need a reissued secret. */
  readonly failed: readonly string[];
};

/**
 * Re-encrypts every secret that is not under the vault's active key. It may run next to a service and to a second
 * rotation: each batch locks its rows and skips rows that have changed since. After an interruption the next call
 * continues with the other secrets.
 * @throws Error naming the missing keys when the vault lacks one that is in use
 */
export async function rotateSecrets(
  db: Database,
  vault: ClaimSecretVault,
  { batch = 500, onProgress = () => {} }: RotationOptions = {},
): Promise<Rotation> {
  await assertKeysKnown(db, vault);
  const total = await countUnderOtherKeys(db, vault.activeKeyId);
  const failed: string[] = [];
  let rotated = 0;
  for (const keyId of await listKeysInUse(db)) {
    if (keyId === vault.activeKeyId) continue;
    for await (const done of rotateKey(db, vault, keyId, batch)) {
      rotated += done.rotated;
      failed.push(...done.failed);
      onProgress(rotated + failed.length, total);
    }
  }
  return { rotated, failed };
}

async function countUnderOtherKeys(db: Database, activeKeyId: string): Promise<number> {
  const rows: { count: string }[] = await db('nfts').whereNot('secret_key_id', activeKeyId).count();
  return Number(rows[0]?.count ?? 0);
}

/** Re-encrypts all secrets under one key, in batches by id. Yields the result of each batch. */
async function* rotateKey(
  db: Database,
  vault: ClaimSecretVault,
  keyId: string,
  limit: number,
): AsyncGenerator<Rotation> {
  let after = nilId;
  for (;;) {
    const batch = { keyId, after, limit };
    const { last, ...rotation } = await inTransaction(db, (tx) => rotateBatch(tx, vault, batch));
    yield rotation;
    if (last === undefined) return;
    after = last;
  }
}

type Batch = {
  readonly keyId: string;
  /** The id of the NFT that the previous batch ended with. */
  readonly after: string;
  readonly limit: number;
};

async function rotateBatch(
  tx: Tx,
  vault: ClaimSecretVault,
  { keyId, after, limit }: Batch,
): Promise<Rotation & { last: string | undefined }> {
  const rows: SealedRow[] = await tx('nfts')
    .select('id', 'secret_cipher', 'secret_key_id')
    .where('secret_key_id', keyId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .forNoKeyUpdate();

  const ids: string[] = [];
  const ciphers: Buffer[] = [];
  const failed: string[] = [];
  for (const row of rows) {
    const cipher = reencrypt(vault, row);
    if (cipher === undefined) {
      failed.push(row.id);
    } else {
      ids.push(row.id);
      ciphers.push(cipher);
    }
  }

  await tx.raw(
    `UPDATE nfts SET secret_cipher = fresh.cipher, secret_key_id = ?
     FROM unnest(?::uuid[], ?::bytea[]) AS fresh (id, cipher) WHERE nfts.id = fresh.id`,
    [vault.activeKeyId, ids, ciphers],
  );
  return { rotated: ids.length, failed, last: rows.at(-1)?.id };
}

/** @returns undefined when the stored secret cannot be decrypted */
function reencrypt(vault: ClaimSecretVault, row: SealedRow): Buffer | undefined {
  try {
    const secret = vault.open(row.id, { cipher: row.secret_cipher, keyId: row.secret_key_id });
    return vault.seal(row.id, secret).cipher;
  } catch {
    // One damaged row must not keep all others under the old key; it is reported instead.
    return undefined;
  }
}
