import type { Database, Tx } from '../contract/transaction.ts';
import { generateKey, hashKey, keyHint } from './key-format.ts';

// Only hashes of keys are stored. A trigger of the table notifies all processes of every change.
const table = 'api_keys';
const columns = [
  'api_keys.id',
  'api_keys.company_id as companyId',
  'companies.name as companyName',
  'api_keys.label',
  'api_keys.hint',
  'api_keys.rate_per_second',
  'api_keys.rate_burst',
  'api_keys.scopes',
  'api_keys.event_id as eventId',
  'api_keys.created_at as createdAt',
  'api_keys.expires_at as expiresAt',
  'api_keys.revoked_at as revokedAt',
  'api_keys.last_used_at as lastUsedAt',
] as const;

export type RateColumns = { rate_per_second: number | null; rate_burst: number | null };

type Row = RateColumns & Omit<ApiKey, 'rateLimit'>;

/** Requests per second on average, and requests at once. */
export type KeyRateLimit = { readonly perSecond: number; readonly burst: number };

/** A key as people may see it. Nothing in it authenticates anyone. */
export type ApiKey = {
  readonly id: string;
  readonly companyId: string | null;
  readonly companyName: string | null;
  readonly label: string;
  /** The first characters, `tk_live_Ab12…`. */
  readonly hint: string;
  /** Null means the service's default. */
  readonly rateLimit: KeyRateLimit | null;
  /** What the key is limited to; null for a key that may do everything. */
  readonly scopes: readonly string[] | null;
  /** The only event that the key is for; null for all events of its company. */
  readonly eventId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** The minute of its last use, which may be stored two minutes later. */
  readonly lastUsedAt: Date | null;
};

export type NewKey = {
  /** The company that the key acts for; null for a key without a company. */
  readonly companyId: string | null;
  readonly label: string;
  readonly rateLimit?: KeyRateLimit | null;
  /** Not empty; null, the default, for a key that may do everything. */
  readonly scopes?: readonly string[] | null;
  /** An event of the company; null, the default, for all. Such a key has the scope `events:checkin` alone. */
  readonly eventId?: string | null;
  readonly expiresAt?: Date | null;
};

/** A key's own rate limit; null means the service's default. */
export function toRateLimit(row: RateColumns): KeyRateLimit | null {
  if (row.rate_per_second === null) return null;
  return { perSecond: row.rate_per_second, burst: row.rate_burst ?? row.rate_per_second };
}

function toRateColumns(limit: KeyRateLimit | null): RateColumns {
  return { rate_per_second: limit?.perSecond ?? null, rate_burst: limit?.burst ?? null };
}

/** The fields are in the order in which commands print them. */
function fromRow(row: Row): ApiKey {
  const { id, companyId, companyName, label, hint, rate_per_second, rate_burst, ...rest } = row;
  const rateLimit = toRateLimit({ rate_per_second, rate_burst });
  return { id, companyId, companyName, label, hint, rateLimit, ...rest };
}

/**
 * Generates a key of an environment and stores its hash.
 * @param random returns the given number of unpredictable bytes; Node's own by default
 * @returns the key in plain, which cannot be read again, and its record
 * @throws Error when the company does not exist
 */
export async function issueKey(
  db: Database,
  environment: string,
  given: NewKey,
  random?: (size: number) => Buffer,
): Promise<{ key: string; record: ApiKey }> {
  const key = generateKey(environment, random);
  const hash = hashKey(key);
  await db(table).insert({
    company_id: given.companyId,
    label: given.label,
    hint: keyHint(key),
    hash,
    expires_at: given.expiresAt ?? null,
    scopes: given.scopes ?? null,
    event_id: given.eventId ?? null,
    ...toRateColumns(given.rateLimit ?? null),
  });
  const record = await findWhere(db, { 'api_keys.hash': hash });
  if (record === undefined) throw new Error(`${table}: a key that was just inserted is gone`);
  return { key, record };
}

type KeyFilter = {
  /** Only keys of this company; null for keys without a company. */
  readonly companyId?: string | null;
  /** Id of a key: only keys that come after it. */
  readonly after?: string | undefined;
  /** All without it. */
  readonly limit?: number;
};

export async function listKeys(db: Database, { companyId, after, limit }: KeyFilter = {}): Promise<ApiKey[]> {
  const query = withCompany(db).select(columns).orderBy('api_keys.created_at').orderBy('api_keys.id');
  if (companyId !== undefined) query.where({ 'api_keys.company_id': companyId });
  // Asked for in the database: a Date has no microseconds.
  if (after !== undefined)
    query.whereRaw(
      '(api_keys.created_at, api_keys.id) > ((SELECT created_at FROM api_keys WHERE id = :after), :after::uuid)',
      { after },
    );
  if (limit !== undefined) query.limit(limit);
  const rows: Row[] = await query;
  return rows.map(fromRow);
}

export async function countActiveKeys(db: Database): Promise<number> {
  const { rows }: { rows: { count: number }[] } = await db.raw(
    `SELECT count(*)::int AS count FROM ${table}
     WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())`,
  );
  return rows[0]?.count ?? 0;
}

/**
 * Finds a key by its id, or by the key in plain: the finder of a leaked key has nothing else.
 * @returns undefined when there is no such key
 */
export async function findKey(db: Database, idOrKey: string): Promise<ApiKey | undefined> {
  const selector = selectorOf(idOrKey);
  return selector && findWhere(db, selector);
}

/**
 * Revokes a key for good. The time of the first revocation stays.
 * @returns the revoked key, or undefined when there is no such key
 */
export function revokeKey(db: Database, idOrKey: string): Promise<ApiKey | undefined> {
  return change(db, idOrKey, { revoked_at: db.raw('coalesce(revoked_at, now())') });
}

/**
 * Sets when a key expires.
 * @param at may be past; null means never
 * @returns the changed key, or undefined when there is no such key
 */
export function setKeyExpiry(db: Database, idOrKey: string, at: Date | null): Promise<ApiKey | undefined> {
  return change(db, idOrKey, { expires_at: at });
}

/** Why a key cannot be replaced by another key. */
type Unrotated = 'unknown' | 'revoked' | 'expired';

/**
 * Issues another key with the company, label, scopes, rate limit and end of a key, which then ends itself.
 * @param overlapSeconds for how long both are valid, by the clock of the database. The old key never ends later than before
 * @returns both records and the new key in plain, which cannot be read again
 */
export async function rotateKey(
  tx: Tx,
  environment: string,
  idOrKey: string,
  overlapSeconds: number,
): Promise<{ old: ApiKey; key: string; record: ApiKey } | Unrotated> {
  const selector = selectorOf(idOrKey);
  if (selector === undefined) return 'unknown';
  // A concurrent end of the key waits for this end, or this end for it.
  await tx(table).where(selector).forUpdate();
  const found = await findWhere(tx, selector);
  if (found === undefined) return 'unknown';
  if (found.revokedAt !== null) return 'revoked';
  const ended = await tx(table)
    .where(selector)
    .whereRaw('(expires_at IS NULL OR expires_at > clock_timestamp())')
    .update({
      expires_at: tx.raw('least(expires_at, clock_timestamp() + make_interval(secs => ?))', [overlapSeconds]),
    });
  const old = ended === 0 ? undefined : await findWhere(tx, selector);
  return old === undefined ? 'expired' : { old, ...(await issueKey(tx, environment, found)) };
}

/**
 * Sets the rate limit of a key.
 * @param limit null restores the service's default
 * @returns the changed key, or undefined when there is no such key
 */
export function setKeyRateLimit(
  db: Database,
  idOrKey: string,
  limit: KeyRateLimit | null,
): Promise<ApiKey | undefined> {
  return change(db, idOrKey, toRateColumns(limit));
}

/**
 * Sets the scopes of a key.
 * @param scopes not empty; null lets the key do everything
 * @returns the changed key, or undefined when there is no such key
 */
export function setKeyScopes(
  db: Database,
  idOrKey: string,
  scopes: readonly string[] | null,
): Promise<ApiKey | undefined> {
  return change(db, idOrKey, { scopes });
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Selector = { 'api_keys.id': string } | { 'api_keys.hash': Buffer };

function selectorOf(idOrKey: string): Selector | undefined {
  if (idOrKey.startsWith('tk_')) return { 'api_keys.hash': hashKey(idOrKey) };
  return uuid.test(idOrKey) ? { 'api_keys.id': idOrKey } : undefined;
}

function withCompany(db: Database) {
  return db.from(table).leftJoin('companies', 'companies.id', `${table}.company_id`);
}

async function findWhere(db: Database, selector: Selector): Promise<ApiKey | undefined> {
  const row: Row | undefined = await withCompany(db).select(columns).where(selector).first();
  return row && fromRow(row);
}

async function change(
  db: Database,
  idOrKey: string,
  values: Readonly<Record<string, unknown>>,
): Promise<ApiKey | undefined> {
  const selector = selectorOf(idOrKey);
  if (selector === undefined) return undefined;
  await db(table).where(selector).update(values);
  return findWhere(db, selector);
}

/**
 * Stores when keys were last used, by one statement. Of several processes the latest use wins. Locks are taken in one order,
 * so that no two processes wait for each other.
 * @param minutes begins of minutes by the id of the key, in milliseconds since 1970
 */
export async function saveLastUses(db: Database, minutes: ReadonlyMap<string, number>): Promise<void> {
  // Keys of other services have other ids, and no row.
  const own = [...minutes].filter(([id]) => uuid.test(id));
  if (own.length === 0) return;
  await db.raw(
    `WITH used AS (
       SELECT k.id, u.at FROM ${table} k
         JOIN unnest(:ids::uuid[], :times::timestamptz[]) AS u (id, at) ON u.id = k.id
       WHERE k.last_used_at IS NULL OR k.last_used_at < u.at
       ORDER BY k.id FOR NO KEY UPDATE OF k)
     UPDATE ${table} k SET last_used_at = greatest(k.last_used_at, used.at) FROM used WHERE k.id = used.id`,
    {
      ids: own.map(([id]) => id),
      times: own.map(([, minute]) => new Date(minute).toISOString()),
    },
  );
}
