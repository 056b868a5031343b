import type { Database, Tx } from '../contract/transaction.ts';

/*
 * Table `usage_minutes`: how many requests a key sent for an operation in a minute, over all processes. What a company minted, and
 * for how much gas, other tables know already.
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

/** Adds counts to those that are stored, in one order, so that no two processes wait for each other. */
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
};

export type Usage = {
  readonly calls: number;
  readonly rejections: number;
  /** Mints that were accepted, also those that holders claimed. */
  readonly mints: number;
  /** Wei that mints cost on each network, decimal. */
  readonly gas: readonly { readonly chainId: string; readonly wei: string }[];
  /** Calls by key or operation, most calls first. */
  readonly items: readonly { readonly name: string; readonly calls: number; readonly rejections: number }[];
};

const days = "(:from::date)::timestamp AT TIME ZONE 'UTC'";
const daysEnd = "(:to::date + 1)::timestamp AT TIME ZONE 'UTC'";
const columns = { operation: 'operation', key: 'key_id' } as const;

/** Sums what a company used in some days. */
export async function readUsage(db: Database, question: UsageQuestion): Promise<Usage> {
  const { companyId, from, to, by } = question;
  const asked = { companyId, from, to };
  const { rows: items }: { rows: Usage['items'] } = await db.raw(
    `SELECT ${columns[by]} AS name, sum(calls)::float8 AS calls, sum(rejections)::float8 AS rejections
     FROM usage_minutes WHERE company_id = :companyId AND minute >= ${days} AND minute < ${daysEnd}
     GROUP BY 1 ORDER BY 2 DESC, 1`,
    asked,
  );
  const { rows: mints }: { rows: { mints: number }[] } = await db.raw(
    `SELECT count(*)::float8 AS mints FROM audit_log
     WHERE company_id = :companyId AND action = 'nft.mint' AND at >= ${days} AND at < ${daysEnd}`,
    asked,
  );
  const { rows: gas }: { rows: Usage['gas'] } = await db.raw(
    `SELECT chain_id::text AS "chainId", sum(wei)::text AS wei FROM company_gas_days
     WHERE company_id = :companyId AND day BETWEEN :from::date AND :to::date GROUP BY 1 ORDER BY 1`,
    asked,
  );
  const sum = (field: 'calls' | 'rejections') => items.reduce((total, item) => total + item[field], 0);
  return {
    calls: sum('calls'),
    rejections: sum('rejections'),
    mints: mints[0]?.mints ?? 0,
    gas,
    items,
  };
}

/** Deletes counts that are over 92 days old, at most `limit` of them. @returns how many; less than `limit` when none is left */
export async function purgeUsage(db: Database, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM usage_minutes WHERE ctid IN (
       SELECT ctid FROM usage_minutes WHERE minute < clock_timestamp() - interval '92 days' LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [limit],
  );
  return rowCount;
}
