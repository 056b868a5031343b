import type { Database, Tx } from '../contract/transaction.ts';
import { purgeWhere } from '../db/records/housekeeping.ts';

/*
 * Table `usage_minutes`: how many requests a key sent for an operation in a minute, over all processes. The audit log knows
 * already which key had what minted, and `company_gas_days` what that cost: one transaction mints for several keys.
 */

export type UsageMinute = {
  readonly companyId: string;
  /** Its begin, in milliseconds since 1970. */
  readonly minute: number;
  readonly keyId: string;
  readonly operation: string;
  readonly calls: number;
  /** Calls that were answered with 4xx or 5xx. */
  readonly rejections: number;
};

/** Adds counts to the stored counts, in one order, so that no two processes wait for each other. */
export async function addUsage(tx: Tx, entries: readonly UsageMinute[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.raw(
    `INSERT INTO usage_minutes AS u (company_id, minute, key_id, operation, calls, rejections)
     SELECT * FROM unnest(:companies::text[], :minutes::timestamptz[], :keys::text[], :operations::text[],
       :calls::bigint[], :rejections::bigint[]) ORDER BY 1, 2, 3, 4
     ON CONFLICT (company_id, minute, key_id, operation)
       DO UPDATE SET calls = u.calls + excluded.calls, rejections = u.rejections + excluded.rejections`,
    {
      companies: entries.map(({ companyId }) => companyId),
      minutes: entries.map(({ minute }) => new Date(minute).toISOString()),
      keys: entries.map(({ keyId }) => keyId),
      operations: entries.map(({ operation }) => operation),
      calls: entries.map(({ calls }) => calls),
      rejections: entries.map(({ rejections }) => rejections),
    },
  );
}

export const usageGroups = ['operation', 'key'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export type UsageQuestion = {
  readonly companyId: string;
  /** Dates in UTC, such as `2027-05-04`; both days are included. */
  readonly from: string;
  readonly to: string;
  readonly by: UsageGroup;
  /** Only what this key used; all keys of the company by default. */
  readonly keyId?: string | undefined;
};

export type Usage = {
  readonly calls: number;
  readonly rejections: number;
  /** Accepted mints, also the mints that holders claimed. */
  readonly mints: number;
  /** Wei that mints cost on each network, decimal. */
  readonly gas: readonly { readonly chainId: string; readonly wei: string }[];
  /** By key or operation, most calls first. */
  readonly items: readonly UsageItem[];
};

type Calls = { readonly name: string; readonly calls: number; readonly rejections: number };

/** Its mints are null by operation: the audit log does not know which one a mint was asked with. */
type UsageItem = Calls & { readonly mints: number | null };

const days = "(:from::date)::timestamp AT TIME ZONE 'UTC'";
const daysEnd = "(:to::date + 1)::timestamp AT TIME ZONE 'UTC'";
const columns = { operation: 'operation', key: 'key_id' } as const;

export async function readUsage(db: Database, question: UsageQuestion): Promise<Usage> {
  const { companyId, from, to, by, keyId = null } = question;
  const asked = { companyId, from, to, keyId } as Record<string, string>; // knex binds null too
  const { rows: calls }: { rows: Calls[] } = await db.raw(
    `SELECT ${columns[by]} AS name, sum(calls)::float8 AS calls, sum(rejections)::float8 AS rejections
     FROM usage_minutes WHERE company_id = :companyId AND minute >= ${days} AND minute < ${daysEnd}
       AND (:keyId::text IS NULL OR key_id = :keyId)
     GROUP BY 1 ORDER BY 2 DESC, 1`,
    asked,
  );
  // From the index `audit_log_mints` alone.
  const { rows: mints }: { rows: Mints[] } = await db.raw(
    `SELECT CASE actor_kind WHEN 'key' THEN actor END AS "keyId", count(*)::float8 AS mints FROM audit_log
     WHERE company_id = :companyId AND action = 'nft.mint' AND at >= ${days} AND at < ${daysEnd}
       AND (:keyId::text IS NULL OR (actor_kind = 'key' AND actor = :keyId)) GROUP BY 1 ORDER BY 1`,
    asked,
  );
  const { rows: gas }: { rows: Usage['gas'] } = await db.raw(
    `SELECT chain_id::text AS "chainId", sum(wei)::text AS wei FROM company_gas_days
     WHERE company_id = :companyId AND day BETWEEN :from::date AND :to::date GROUP BY 1 ORDER BY 1`,
    asked,
  );
  return {
    calls: sumOf(calls, (item) => item.calls),
    rejections: sumOf(calls, (item) => item.rejections),
    mints: sumOf(mints, (item) => item.mints),
    gas,
    items: by === 'key' ? withMints(calls, mints) : calls.map((item) => ({ ...item, mints: null })),
  };
}

/** Null is who claimed with a secret. */
type Mints = { readonly keyId: string | null; readonly mints: number };

const sumOf = <T>(items: readonly T[], numberOf: (item: T) => number) =>
  items.reduce((total, item) => total + numberOf(item), 0);

/** The calls and mints of each key; at the end those whose calls are not stored, or not any more. */
function withMints(calls: readonly Calls[], mints: readonly Mints[]): UsageItem[] {
  const left = new Map(mints.map((item) => [item.keyId, item.mints]));
  const items = calls.map((item) => ({ ...item, mints: left.get(item.name) ?? 0 }));
  for (const { name } of items) left.delete(name);
  for (const [name, count] of left)
    if (name !== null) items.push({ name, calls: 0, rejections: 0, mints: count });
  return items;
}

export const purgeUsage = purgeWhere('usage_minutes', "minute < clock_timestamp() - interval '92 days'");
