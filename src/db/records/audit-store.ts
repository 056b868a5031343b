import type { Origin } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { prepared } from '../connection/prepared.ts';
import { byStatement } from '../connection/transaction.ts';

/*
 * Table `audit_log`: each change and each revealed secret, with its author. An entry is written in the transaction of
 * its change.
 */

/** The change, or the data that was revealed. It never has a secret. */
export type AuditEntry = {
  /** Such as `event.create`. */
  readonly action: string;
  readonly companyId: string | null;
  /** The id of what it is about; null where it is about many. */
  readonly subject: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
};

export type Actor =
  | ({ readonly kind: 'key' } & Origin)
  /** A caller without a key, who has the claim secret of an NFT. */
  | ({ readonly kind: 'holder' } & Omit<Origin, 'keyId'>)
  | { readonly kind: 'operator'; readonly name: string; readonly host: string };

function actorOf(by: Actor) {
  const { kind } = by;
  if (kind === 'operator') return { kind, actor: by.name, origin: by.host, requestId: null };
  const actor = kind === 'key' ? by.keyId : kind;
  return { kind, actor, origin: by.address, requestId: by.requestId };
}

const recordSql = `
  INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, subject, request_id, details)
  SELECT kind, actor, origin, "companyId", action, subject, "requestId", details
  FROM jsonb_to_recordset($1::jsonb) AS e (kind text, actor text, origin text, "companyId" text, action text,
    subject text, "requestId" text, details jsonb)`;

/** Stores entries, with one statement. */
export async function recordAudit(
  db: Database,
  entries: readonly (AuditEntry & { readonly by: Actor })[],
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ action, companyId, subject, details = {}, by }) => ({
    action,
    companyId,
    subject,
    details,
    ...actorOf(by),
  }));
  await prepared(db, 'record_audit', recordSql, [JSON.stringify(rows)]);
}

/** What a key did, for a statement that does it: see {@link keyEntrySql}. */
export type KeyEntry = Pick<AuditEntry, 'action'> & { readonly origin: Origin };

/**
 * The part of a statement that stores what a key did to each row of `made`, another part of it.
 * @param options.from number of the first of the parameters, which are {@link keyEntryValues}
 * @param options.subject, options.companyId expressions over `made`
 * @param options.details an expression that gives jsonb
 */
export const keyEntrySql = ({ from, companyId, subject, details = `'{}'` }: KeyEntryParts): string => `
  INSERT INTO audit_log (actor_kind, actor, origin, request_id, action, company_id, subject, details)
  SELECT 'key', $${from}, $${from + 1}, $${from + 2}, $${from + 3}, ${companyId}, ${subject}, ${details} FROM made`;

type KeyEntryParts = {
  readonly from: number;
  readonly companyId: string;
  readonly subject: string;
  readonly details?: string;
};

export const keyEntryValues = ({ action, origin }: KeyEntry): string[] => [
  ...[origin.keyId, origin.address, origin.requestId, action],
];

export type AuditFilter = {
  readonly companyId?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Decimal id: only entries before this entry. */
  readonly before?: string | undefined;
};

export type StoredAudit = {
  readonly id: string;
  readonly at: Date;
  readonly actorKind: Actor['kind'];
  readonly actor: string;
  /** The address of a caller, or host and process of an operator. */
  readonly origin: string;
  readonly databaseUser: string;
  readonly companyId: string | null;
  readonly action: string;
  readonly subject: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
};

const columns = `id, at, actor_kind AS "actorKind", actor, origin, database_user AS "databaseUser",
  company_id AS "companyId", action, subject, request_id AS "requestId", details`;

/** Lists entries, the newest first. The id of the last is where the next page goes on: `before`. */
export async function listAudit(db: Database, filter: AuditFilter, limit: number): Promise<StoredAudit[]> {
  const conditions: readonly (readonly [string, string | Date | undefined])[] = [
    ['company_id = ?', filter.companyId],
    ['actor = ?', filter.actor],
    ['action = ?', filter.action],
    ['subject = ?', filter.subject],
    ['at >= ?', filter.since],
    ['at < ?', filter.until],
    ['id < ?', filter.before],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  const where = given.length === 0 ? '' : `WHERE ${given.map(([text]) => text).join(' AND ')}`;
  const values = given.flatMap(([, value]) => (value === undefined ? [] : [value]));
  const { rows } = await byStatement(db, (from) =>
    from.raw<{ rows: StoredAudit[] }>(`SELECT ${columns} FROM audit_log ${where} ORDER BY id DESC LIMIT ?`, [
      ...values,
      limit,
    ]),
  );
  return rows;
}

/** Stores what a key did or saw. */
export const recordByKey = (db: Database, entry: AuditEntry, origin: Origin): Promise<void> =>
  recordAudit(db, [{ ...entry, by: { kind: 'key', ...origin } }]);
