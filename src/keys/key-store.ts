import type { Knex } from 'knex';
import { generateKey, hashKey, keyHint } from './key-format.ts';

const table = 'api_keys';
const columns = [
  'api_keys.id',
  'api_keys.company_id',
  'companies.name as company_name',
  'api_keys.label',
  'api_keys.hint',
  'api_keys.rate_per_second',
  'api_keys.rate_burst',
  'api_keys.created_at',
  'api_keys.expires_at',
  'api_keys.revoked_at',
] as const;

/** The columns of a key's own limit. */
export type RateColumns = { rate_per_second: number | null; rate_burst: number | null };

type Row = RateColumns & {
  id: string;
  company_id: string | null;
  company_name: string | null;
  label: string;
  hint: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
};

export type KeyRateLimit = { readonly perSecond: number; readonly burst: number };

/** A key as people may see it: nothing in it lets anyone in. */
export type ApiKey = {
  readonly id: string;
  readonly companyId: string | null;
  readonly companyName: string | null;
  readonly label: string;
  /** The first characters, `tk_live_Ab12…`. */
  readonly hint: string;
  /** Requests a second and at once; null means the service's default. */
  readonly rateLimit: KeyRateLimit | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
};

type NewKey = {
  /** The company that the key acts for; null for a key without one. */
  readonly companyId: string | null;
  readonly label: string;
  readonly rateLimit?: KeyRateLimit | null;
  readonly expiresAt?: Date | null;
};

/** A key's own limit; null means the service's default. */
export const toRateLimit = (row: RateColumns): KeyRateLimit | null =>
  row.rate_per_second === null
    ? null
    : { perSecond: row.rate_per_second, burst: row.rate_burst ?? row.rate_per_second };

const toRateColumns = (limit: KeyRateLimit | null): RateColumns => ({
  rate_per_second: limit?.perSecond ?? null,
  rate_burst: limit?.burst ?? null,
});

const toApiKey = (row: Row): ApiKey => ({
  id: row.id,
  companyId: row.company_id,
  companyName: row.company_name,
  label: row.label,
  hint: row.hint,
  rateLimit: toRateLimit(row),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
});

export type KeyStore = ReturnType<typeof createKeyStore>;

/**
 * The keys that this service issued. Only their hashes are stored. Every change is notified to all
 * processes by a trigger of the table.
 * @param random gives that many unpredictable bytes; for new keys
 */
export function createKeyStore({ db, random }: { db: Knex; random?: (size: number) => Buffer }) {
  return {
    /**
     * Makes a key of an environment. `key` is told this once and can never be read again.
     * @throws Error when the company does not exist
     */
    async create(environment: string, given: NewKey): Promise<{ key: string; record: ApiKey }> {
      const key = generateKey(environment, random);
      const hash = hashKey(key);
      await db(table).insert({
        company_id: given.companyId,
        label: given.label,
        hint: keyHint(key),
        hash,
        expires_at: given.expiresAt ?? null,
        ...toRateColumns(given.rateLimit ?? null),
      });
      const record = await findWhere(db, { 'api_keys.hash': hash });
      if (record === undefined) throw new Error(`${table}: a key that was just made is gone`);
      return { key, record };
    },

    /** All keys, or those of one company (null: those without one), oldest first. */
    async list(filter: { readonly companyId?: string | null } = {}): Promise<ApiKey[]> {
      const query = keysOf(db).select(columns).orderBy('api_keys.created_at').orderBy('api_keys.id');
      if (filter.companyId !== undefined) query.where({ 'api_keys.company_id': filter.companyId });
      const rows: Row[] = await query;
      return rows.map(toApiKey);
    },

    /** By id, or by the key itself: a leaked one is what its finder has in hand. */
    async find(idOrKey: string): Promise<ApiKey | undefined> {
      const where = selectorOf(idOrKey);
      return where && findWhere(db, where);
    },

    /** Ends a key for good; the first time stands. Undefined when there is no such key. */
    revoke(idOrKey: string): Promise<ApiKey | undefined> {
      return change(db, idOrKey, { revoked_at: db.raw('coalesce(revoked_at, now())') });
    },

    /** Sets when a key ends, which may be past; null means never. Undefined when there is no such key. */
    expire(idOrKey: string, at: Date | null): Promise<ApiKey | undefined> {
      return change(db, idOrKey, { expires_at: at });
    },

    /** Gives a key a limit of its own, or with null the default again. Undefined when there is no such key. */
    limit(idOrKey: string, limit: KeyRateLimit | null): Promise<ApiKey | undefined> {
      return change(db, idOrKey, toRateColumns(limit));
    },
  };
}

type Selector = { 'api_keys.id': string } | { 'api_keys.hash': Buffer };

function selectorOf(idOrKey: string): Selector | undefined {
  if (idOrKey.startsWith('tk_')) return { 'api_keys.hash': hashKey(idOrKey) };
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
  return uuid.test(idOrKey) ? { 'api_keys.id': idOrKey } : undefined;
}

const keysOf = (db: Knex) => db.from(table).leftJoin('companies', 'companies.id', `${table}.company_id`);

async function findWhere(db: Knex, where: Selector): Promise<ApiKey | undefined> {
  const row: Row | undefined = await keysOf(db).select(columns).where(where).first();
  return row && toApiKey(row);
}

async function change(db: Knex, idOrKey: string, values: object): Promise<ApiKey | undefined> {
  const where = selectorOf(idOrKey);
  if (where === undefined) return undefined;
  await db(table).where(where).update(values);
  return findWhere(db, where);
}
