import { errorCode } from '../base/thrown.ts';
import { networkNotFound } from '../chain/networks.ts';
import type { Origin } from '../contract/operation.ts';
import type { Database, Tx } from '../contract/transaction.ts';
import { prepared } from '../db/connection/prepared.ts';
import { keyEntrySql, keyEntryValues } from '../db/records/audit-store.ts';
import type { EventFields, EventRecord } from './event.ts';
import { type EventRow, eventColumns, fieldColumns, fromRow, toColumns } from './event-row.ts';

const table = 'events';

const findSql = `SELECT ${eventColumns} FROM ${table} WHERE company_id = $1 AND id = $2`;
const lockSql = `${findSql} FOR NO KEY UPDATE`;
const companySql = `SELECT company_id FROM ${table} WHERE id = $1`;
const lockForScansSql = `${findSql} FOR KEY SHARE`;
const lockForUndosSql = `${findSql} FOR UPDATE`;

/**
 * One event of a company.
 * @returns undefined when the company has no such event
 */
export async function findEvent(
  db: Database,
  companyId: string,
  id: string,
): Promise<EventRecord | undefined> {
  const { rows } = await prepared<EventRow>(db, 'find_event', findSql, [companyId, id]);
  return rows[0] && fromRow(rows[0]);
}

/** Finds the company of any event, for operators. */
export async function findCompanyOfEvent(db: Database, id: string): Promise<string | undefined> {
  const { rows } = await prepared<{ company_id: string }>(db, 'find_company_of_event', companySql, [id]);
  return rows[0]?.company_id;
}

/**
 * Locks the row of an event until the end of the transaction, against changes, removal and new attendees.
 * @returns undefined when the company has no such event
 */
export async function lockEvent(tx: Tx, companyId: string, id: string): Promise<EventRecord | undefined> {
  const { rows } = await prepared<EventRow>(tx, 'lock_event', lockSql, [companyId, id]);
  return rows[0] && fromRow(rows[0]);
}

/**
 * Locks the row of an event until the end of the transaction, against its removal. Scans of the event share the lock. Undos have it alone,
 * so that an undo and its scan never miss each other.
 * @returns undefined when the company has no such event
 */
export async function lockEventForScans(
  tx: Tx,
  companyId: string,
  id: string,
  hasUndos: boolean,
): Promise<EventRecord | undefined> {
  const [name, text] = hasUndos
    ? ['lock_event_for_undos', lockForUndosSql]
    : ['lock_event_for_scans', lockForScansSql];
  const { rows } = await prepared<EventRow>(tx, name, text, [companyId, id]);
  return rows[0] && fromRow(rows[0]);
}

const insertSql = `INSERT INTO ${table} (company_id, ${fieldColumns.join()})
  VALUES ($1, ${fieldColumns.map((_, index) => `$${index + 2}`).join()}) RETURNING ${eventColumns}`;
const told = keyEntrySql({
  from: fieldColumns.length + 2,
  companyId: 'made.company_id::text',
  subject: 'made.id::text',
});
const insertAndTellSql = `WITH made AS (${insertSql}), told AS (${told}) SELECT * FROM made`;

/**
 * Inserts an event without attendees, in its first version, by one statement.
 * @param origin the key that the audit log names for it; nobody's by default
 * @throws ProblemError `network_not_found` when its network has left the registry
 */
export async function insertEvent(
  db: Database,
  companyId: string,
  fields: EventFields,
  origin?: Origin,
): Promise<EventRecord> {
  const row = toColumns(fields);
  const values = [companyId, ...fieldColumns.map((column) => row[column])];
  const inserted =
    origin === undefined
      ? prepared<EventRow>(db, 'insert_event', insertSql, values)
      : prepared<EventRow>(db, 'insert_event_and_tell', insertAndTellSql, [
          ...values,
          ...keyEntryValues({ action: 'event.create', origin }),
        ]);
  return written(
    inserted.then(({ rows }) => rows),
    fields,
  );
}

/**
 * Writes all fields of a locked event and increments its version.
 * @throws ProblemError `network_not_found` when its network has left the registry
 */
export async function updateEvent(
  tx: Tx,
  companyId: string,
  id: string,
  fields: EventFields,
): Promise<EventRecord> {
  const values = {
    ...toColumns(fields),
    version: tx.raw('version + 1'),
    // Not now(): that is when the transaction began, before it waited for the lock.
    updated_at: tx.raw('clock_timestamp()'),
  };
  const change = tx(table).where({ company_id: companyId, id }).update(values, '*');
  return written(change.then(), fields);
}

const countOneLessSql = `UPDATE ${table} SET total_attendees = total_attendees - 1
  WHERE company_id = $1 AND id = $2`;

/** Subtracts one from the number of attendees of a locked event. */
export async function countOneLess(tx: Tx, companyId: string, id: string): Promise<void> {
  await prepared(tx, 'count_one_less', countOneLessSql, [companyId, id]);
}

/** Deletes a locked event and, by a trigger, its attendees. A worker deletes attendees beyond 10,000, and nobody sees them. */
export async function deleteEvent(tx: Tx, companyId: string, id: string): Promise<void> {
  await tx(table).where({ company_id: companyId, id }).delete();
}

// A network that left the registry after the caller found it violates the foreign key.
async function written(writing: Promise<EventRow[]>, { chainId }: EventFields): Promise<EventRecord> {
  const rows = await writing.catch((error: unknown) => {
    const foreignKey = errorCode(error) === '23503';
    throw foreignKey && chainId !== null ? networkNotFound(chainId) : error;
  });
  const [row] = rows;
  if (row === undefined) throw new Error('the event was not written: its row was not locked');
  return fromRow(row);
}
