import type { components } from '../contract/generated/rwa.ts';
import type { Caller, CallerContext } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import type { KeyRateLimit } from './key-store.ts';

/** The schema of every document that takes keys. */
type Key = components['schemas']['Key'];

type OwnKeyParts = {
  readonly db: Database;
  /** Of keys without a limit of their own; 0 per second means no limit. */
  readonly defaults: KeyRateLimit;
};

/** Creates the handler that answers what the key of the request may do, for every document. */
export function createOwnKeyHandler({ db, defaults }: OwnKeyParts) {
  const usual = defaults.perSecond === 0 ? null : defaults;
  return async (_input: object, { caller }: CallerContext): Promise<{ status: 200; body: Key }> => {
    const { keyId: id, companyId, scopes, eventId, rateLimit } = caller;
    const { company_name, expires_at, last_used_at } = await findOwn(db, caller);
    return {
      status: 200,
      body: {
        id,
        companyId,
        companyName: company_name,
        scopes: scopes && [...scopes],
        eventId,
        rateLimit: rateLimit ?? usual,
        expiresAt: expires_at?.toISOString() ?? null,
        lastUsedAt: last_used_at?.toISOString() ?? null,
      },
    };
  };
}

type Row = { company_name: string | null; expires_at: Date | null; last_used_at: Date | null };

/** What the database knows of a key. Another service may manage the key, or the company too. */
async function findOwn(db: Database, { keyId, companyId }: Caller): Promise<Row> {
  const { rows }: { rows: Row[] } = await db.raw(
    `SELECT c.name AS company_name, k.expires_at, k.last_used_at
     FROM (VALUES (:keyId::text, :companyId::text)) AS own (key_id, company_id)
       LEFT JOIN companies c ON c.id = own.company_id
       LEFT JOIN api_keys k ON k.id::text = own.key_id AND k.company_id IS NOT DISTINCT FROM own.company_id`,
    { keyId, companyId },
  );
  return rows[0] ?? { company_name: null, expires_at: null, last_used_at: null };
}
