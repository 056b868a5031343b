import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import type { Endpoint } from './endpoint.ts';
import type { EndpointSecrets } from './endpoint-secret.ts';
import { listSealedOtherwise, lockEndpoint, setSealed } from './endpoint-store.ts';
import { sealedParts, usedUrl } from './endpoint-url.ts';

// The newest of each key.
const sampleSize = 5;

const samplesSql = `
  SELECT id, address, secret, split_part(coalesce(secret, split_part(address, ' ', 2)), ':', 1) AS "keyId" FROM (
    SELECT e.id, e.url AS address, s AS secret,
      row_number() OVER (PARTITION BY s IS NULL, split_part(coalesce(s, split_part(e.url, ' ', 2)), ':', 1)
        ORDER BY e.updated_at DESC) AS place
    FROM news_endpoints e CROSS JOIN LATERAL (
      SELECT unnest(e.secrets) UNION ALL SELECT NULL WHERE e.url LIKE '% %') sealed (s)) sealed
  WHERE place <= ${sampleSize} ORDER BY 4`;

/** A secret; or an address, without one. */
type Sample = Pick<Endpoint, 'id' | 'address'> & { readonly secret: string | null; readonly keyId: string };

/**
 * Checks that there is the key of every stored secret and address of an endpoint, and that each opens what it has sealed.
 * @throws Error naming the keys that are missing or have other bytes
 */
export async function assertEndpointKeysOpen(db: Database, secrets: EndpointSecrets): Promise<void> {
  const { rows }: { rows: Sample[] } = await db.raw(samplesSql);
  const sealed = rows.filter(({ secret, address }) => secret !== null || sealedParts(address) !== undefined);
  const byKey = [...Map.groupBy(sealed, ({ keyId }) => keyId)];
  const missing = byKey.filter(([keyId]) => !secrets.knows(keyId)).map(([keyId]) => keyId);
  if (missing.length > 0) {
    throw new Error(
      `SECRET_KEYS lacks keys that secrets of endpoints are encrypted with: ${missing.join(', ')}`,
    );
  }
  // One that does not open while others do is damaged, and no reason to send nothing.
  const other = byKey.filter(([, own]) => !own.some((sample) => opens(secrets, sample)));
  if (other.length === 0) return;
  throw new Error(
    `SECRET_KEYS has other bytes under the id ${other.map(([keyId]) => keyId).join(', ')} than the key that sealed the stored ` +
      'secrets of endpoints. Give this id its former bytes; a new key needs an id of its own.',
  );
}

function opens(secrets: EndpointSecrets, { secret, ...endpoint }: Sample): boolean {
  try {
    if (secret === null) secrets.openUrl(endpoint);
    else secrets.open(endpoint.id, secret);
    return true;
  } catch {
    return false;
  }
}

/**
 * Seals the secrets and addresses of all endpoints by the newest key. @returns how many endpoints, and the ids of
 * endpoints that do not open
 */
export async function resealEndpoints(
  db: Database,
  secrets: EndpointSecrets,
): Promise<{ readonly resealed: number; readonly failed: readonly string[] }> {
  let resealed = 0;
  const failed: string[] = [];
  for (const { id, companyId } of await listSealedOtherwise(db, secrets.activeKeyId)) {
    try {
      await inTransaction(db, async (tx) => {
        const endpoint = await lockEndpoint(tx, companyId, id);
        if (endpoint === undefined) return;
        const fresh = endpoint.secrets.map((sealed) => secrets.seal(id, secrets.open(id, sealed)));
        const address = secrets.sealUrl(id, usedUrl(secrets.openUrl(endpoint)));
        await setSealed(tx, id, { ...endpoint, secrets: fresh, address });
        resealed += 1;
      });
    } catch (error) {
      if (!(error instanceof Error) || 'code' in error) throw error;
      failed.push(id);
    }
  }
  return { resealed, failed };
}
