import type { Knex } from 'knex';
import type { Tx } from '../../contract/transaction.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { claimUrl } from '../assets/claim-url.ts';

type SealedRow = { id: string; secret_cipher: Buffer; secret_key_id: string };

const nilId = '00000000-0000-0000-0000-000000000000';

/**
 * The ids of the keys that any stored secret needs. Hops from one id to the next in the index instead of
 * reading every row, so a start stays quick with millions of NFTs.
 */
export async function keysInUse(db: Knex): Promise<string[]> {
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
 * Refuses to go on when a stored secret could not be opened.
 * @throws Error naming the missing keys
 */
export async function assertKeysKnown(db: Knex, vault: ClaimSecretVault): Promise<void> {
  const missing = (await keysInUse(db)).filter((id) => !vault.knows(id));
  if (missing.length > 0) {
    throw new Error(`SECRET_KEYS lacks keys that claim secrets are encrypted with: ${missing.join(', ')}`);
  }
}

export type RotationOptions = {
  /** Rows that one transaction re-encrypts, and so locks, at most. */
  readonly batch?: number;
  readonly onProgress?: (done: number, total: number) => void;
};

export type Rotation = {
  readonly rotated: number;
  /** NFTs whose secret does not open, left as they are: give them a new one with {@link reissueSecret}. */
  readonly failed: readonly string[];
};

/**
 * Re-encrypts every secret that is not under the vault's active key. Safe beside a running service and a
 * second rotation: each batch locks its rows and passes over those that changed meanwhile. Takes up where
 * an interrupted one ended.
 */
export async function rotateSecrets(
  db: Knex,
  vault: ClaimSecretVault,
  { batch = 500, onProgress = () => {} }: RotationOptions = {},
): Promise<Rotation> {
  await assertKeysKnown(db, vault);
  const total = await countUnderOtherKeys(db, vault.activeKeyId);
  const failed: string[] = [];
  let rotated = 0;
  for (const keyId of await keysInUse(db)) {
    if (keyId === vault.activeKeyId) continue;
    let after: string | undefined = nilId;
    while (after !== undefined) {
      const from: string = after;
      const step = await db.transaction((tx) => rotateBatch(tx, vault, { keyId, after: from, batch }));
      rotated += step.rotated;
      failed.push(...step.failed);
      after = step.last;
      onProgress(rotated + failed.length, total);
    }
  }
  return { rotated, failed };
}

async function countUnderOtherKeys(db: Knex, activeKeyId: string): Promise<number> {
  const rows: { count: string }[] = await db('nfts').whereNot('secret_key_id', activeKeyId).count();
  return Number(rows[0]?.count ?? 0);
}

type Cut = { readonly keyId: string; readonly after: string; readonly batch: number };

async function rotateBatch(tx: Tx, vault: ClaimSecretVault, { keyId, after, batch }: Cut) {
  const rows: SealedRow[] = await tx('nfts')
    .select('id', 'secret_cipher', 'secret_key_id')
    .where('secret_key_id', keyId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(batch)
    .forNoKeyUpdate();
  const ids: string[] = [];
  const ciphers: Buffer[] = [];
  const failed: string[] = [];
  for (const row of rows) {
    const cipher = resealed(vault, row);
    if (cipher === undefined) failed.push(row.id);
    else ciphers[ids.push(row.id) - 1] = cipher;
  }
  await tx.raw(
    `UPDATE nfts SET secret_cipher = fresh.cipher, secret_key_id = ?
     FROM unnest(?::uuid[], ?::bytea[]) AS fresh (id, cipher) WHERE nfts.id = fresh.id`,
    [vault.activeKeyId, ids, ciphers],
  );
  return { rotated: ids.length, failed, last: rows.at(-1)?.id };
}

function resealed(vault: ClaimSecretVault, row: SealedRow): Buffer | undefined {
  try {
    const secret = vault.open(row.id, { cipher: row.secret_cipher, keyId: row.secret_key_id });
    return vault.seal(row.id, secret).cipher;
  } catch {
    // One damaged row must not keep all others under the old key; it is reported instead.
    return undefined;
  }
}

/**
 * Gives an NFT a new claim secret; the old one stops working at once.
 * @param claimBaseUrl the claim page where neither RWA nor company has one
 * @returns undefined when there is no such NFT
 */
export async function reissueSecret(
  db: Knex,
  vault: ClaimSecretVault,
  nftId: string,
  claimBaseUrl: string,
): Promise<{ nftId: string; secret: string; url: string } | undefined> {
  const secret = vault.generate();
  const sealed = vault.seal(nftId, secret);
  const { rows }: { rows: { base: string | null }[] } = await db.raw(
    `UPDATE nfts n
     SET secret_cipher = :cipher, secret_key_id = :keyId, updated_at = clock_timestamp()
     FROM rwas r JOIN companies c ON c.id = r.company_id
     WHERE n.id = :nftId AND r.id = n.rwa_id
     RETURNING coalesce(r.claim_base_url, c.claim_base_url) AS base`,
    { cipher: sealed.cipher, keyId: sealed.keyId, nftId },
  );
  const [row] = rows;
  return row && { nftId, secret, url: claimUrl(row.base ?? claimBaseUrl, nftId, secret) };
}
