import { problem } from '../base/errors.ts';
import { type Batches, mapBatches } from '../contract/batches.ts';
import type { Origin } from '../contract/operation.ts';
import type { Database, Tx } from '../contract/transaction.ts';
import { prepared } from '../db/connection/prepared.ts';
import { keyEntrySql, keyEntryValues } from '../db/records/audit-store.ts';
import type { MayLag } from '../db/replica/replica-reads.ts';
import { insideSql } from './checkin/scan-sql.ts';
import type { Token } from './eligibility/token.ts';
import { columnsOf } from './eligibility/token-store.ts';
import type { Admission, Attendee } from './event.ts';
import { atField } from './event-rules.ts';
import { batchSize, readWhileThere } from './read-while-there.ts';

// Writers lock the row of the event, so the column `seq` is the order of registration.
const table = 'attendees';

// Nobody is admitted at the door before the registration, so what registers leaves `checked_in_at` and `inside` out.
type Row = {
  event_id: string;
  attendee_id: string;
  label: string | null;
  created_at: Date;
  checked_in_at?: Date | null;
  inside?: boolean | null;
} & Partial<AdmissionRow>;
type AdmissionRow = {
  wallet: string | null;
  applied_price: string | null;
  blocks: { chainId: string; number: string; hash: string; time: string }[];
  tokens: Token[] | null;
};

function fromRow(row: Row): Attendee {
  const { wallet = null, applied_price: price = null, blocks = [], tokens } = row;
  const admission =
    wallet === null
      ? undefined
      : {
          wallet,
          price,
          blocks: blocks.map(({ number, time, ...block }) => ({
            ...block,
            number: BigInt(number),
            time: new Date(time),
          })),
          tokens: tokens ?? [],
        };
  return {
    attendeeId: row.attendee_id,
    eventId: row.event_id,
    label: row.label,
    createdAt: row.created_at,
    checkedInAt: row.checked_in_at ?? null,
    isInside: row.inside ?? null,
    admission,
  };
}

function keyOf(companyId: string, eventId: string, attendeeId: string) {
  return { company_id: companyId, event_id: eventId, attendee_id: attendeeId };
}

type ListedRow = (Row & { seq: string }) | { attendee_id: null };
type PlacedRow = Row & { seq: string };

/**
 * The attendees of an event in order of registration. Each batch is read by one statement together with the event.
 * @returns undefined when the company has no such event; when it goes away later, a batch rejects
 */
export async function readAttendees(
  mayLag: MayLag,
  companyId: string,
  eventId: string,
  after?: AttendeePlace,
): Promise<Batches<Attendee> | undefined> {
  const batches = await readWhileThere((last) =>
    mayLag((db) => readRows(db, companyId, eventId, { after: last ?? after, limit: batchSize })),
  );
  return (
    batches && { first: batches.first.map(fromRow), rest: batches.rest && mapBatches(batches.rest, fromRow) }
  );
}

/** The place of an attendee in the list of an event: grows with the order of registration. */
export type AttendeePlace = string;

type AttendeePage = { readonly limit: number; readonly after: AttendeePlace | undefined };

/** A page of the attendees of an event in order of registration; undefined when the company has no such event. */
export async function listAttendees(
  db: Database,
  companyId: string,
  eventId: string,
  page: AttendeePage,
): Promise<(Attendee & { readonly place: AttendeePlace })[] | undefined> {
  const rows = await readRows(db, companyId, eventId, page);
  return rows?.map((row) => ({ ...fromRow(row), place: row.seq }));
}

// Of a plain outer join the server would sort all attendees that come after, for each page.
const listSql = `
  SELECT a.event_id, a.attendee_id, a.label, a.created_at, a.checked_in_at, a.seq, a.wallet, a.applied_price, a.blocks,
    CASE WHEN a.checked_in_at IS NOT NULL THEN ${insideSql('a')} END AS inside,
    CASE WHEN a.wallet IS NOT NULL THEN (
      SELECT jsonb_agg(jsonb_build_object('chainId', chain_id::text, 'contract', contract, 'tokenId', token_id::text)
        ORDER BY chain_id, contract, token_id)
      FROM attendee_tokens t WHERE t.event_id = a.event_id AND t.attendee_id = a.attendee_id) END AS tokens
  FROM events e LEFT JOIN LATERAL (
    SELECT event_id, attendee_id, label, created_at, checked_in_at, seq, wallet, applied_price, blocks
    FROM ${table}
    WHERE company_id = e.company_id AND event_id = e.id AND seq > $3
    ORDER BY seq LIMIT $4) a ON true
  WHERE e.company_id = $1 AND e.id = $2
  ORDER BY a.seq`;

/** Reads rows of an event's attendees; undefined where there is no such event. */
async function readRows(
  db: Database,
  companyId: string,
  eventId: string,
  { limit, after }: AttendeePage,
): Promise<PlacedRow[] | undefined> {
  const { rows } = await prepared<ListedRow>(db, 'list_attendees', listSql, [
    companyId,
    eventId,
    after ?? '0',
    limit,
  ]);
  // An event without further attendees has one empty row.
  return rows.length === 0 ? undefined : rows.filter((row): row is PlacedRow => row.attendee_id !== null);
}

// The event is locked first. So the number of attendees is up to date, and nobody else changes it meanwhile.
const registerParts = `
  event AS (
    SELECT company_id, id, max_attendees <= total_attendees AS is_full,
      proof_required OR one_admission_per_token AS wants_wallet FROM events
    WHERE company_id = $1 AND id = $2 FOR NO KEY UPDATE
  ), made AS (
    INSERT INTO ${table} (company_id, event_id, attendee_id, label, created_at)
    SELECT company_id, id, $3, $4, clock_timestamp() FROM event WHERE is_full IS NOT TRUE AND NOT wants_wallet
    ON CONFLICT (event_id, attendee_id) DO NOTHING RETURNING company_id, event_id, attendee_id, label, created_at
  ), counted AS (
    UPDATE events SET total_attendees = total_attendees + 1
    FROM made WHERE events.company_id = made.company_id AND events.id = made.event_id
  )`;
const registered = `SELECT event.is_full, event.wants_wallet, made.event_id, made.attendee_id, made.label, made.created_at FROM event LEFT JOIN made ON true`;
const registerSql = `WITH ${registerParts} ${registered}`;
const toldOf = keyEntrySql({
  from: 5,
  companyId: 'made.company_id::text',
  subject: 'made.event_id::text',
  details: `jsonb_build_object('attendeeId', made.attendee_id)`,
});
const registerAndTellSql = `WITH ${registerParts}, told AS (${toldOf}) ${registered}`;

type Registration = { is_full: boolean | null; wants_wallet: boolean } & (Row | { created_at: null });

/**
 * Registers a user without a wallet for an event, by one statement.
 * @param origin the key that the audit log names for it; nobody's by default
 * @throws ProblemError `event_not_found`, `event_full`, `attendee_already_invited`; `wallet_required` when the event wants one
 */
export async function registerAttendee(
  db: Database,
  { companyId, eventId, attendeeId, label = null }: NewAttendee,
  origin?: Origin,
): Promise<Attendee> {
  const values = [companyId, eventId, attendeeId, label];
  const registering =
    origin === undefined
      ? prepared<Registration>(db, 'register_attendee', registerSql, values)
      : prepared<Registration>(db, 'register_attendee_and_tell', registerAndTellSql, [
          ...values,
          ...keyEntryValues({ action: 'attendee.add', origin }),
        ]);
  const { rows } = await registering.catch(refuseFull);
  const [row] = rows;
  if (row === undefined) throw problem('event_not_found');
  if (row.created_at !== null) return fromRow(row);
  const isRejected = row.is_full === true || row.wants_wallet;
  const isInvited = !isRejected || (await hasAttendee(db, { companyId, eventId, attendeeId }));
  if (isInvited) throw problem('attendee_already_invited');
  throw row.wants_wallet ? walletRequired() : problem('event_full');
}

/**
 * Reports a full event. The values that came with the lock may be older than `maxAttendees`, when that changes at the
 * same moment. The check of the table is not.
 */
function refuseFull(error: unknown): never {
  const isBeyondMost =
    error instanceof Error && 'constraint' in error && error.constraint === 'events_check2';
  throw isBeyondMost ? problem('event_full') : error;
}

type AttendeeKey = { readonly companyId: string; readonly eventId: string; readonly attendeeId: string };
type NewAttendee = AttendeeKey & { readonly label?: string | null };

/** Whether the user is registered for the event. */
export async function hasAttendee(
  db: Database | Tx,
  { companyId, eventId, attendeeId }: AttendeeKey,
): Promise<boolean> {
  const row: Row | undefined = await db(table)
    .where(keyOf(companyId, eventId, attendeeId))
    .first('event_id');
  return row !== undefined;
}

/** The problem of a body without a wallet. */
export const walletRequired = () => atField(problem('wallet_required'), '/wallet');

// The tokens refer to the attendee, which PostgreSQL checks at the end of the statement.
const admitSql = `
  WITH made AS (
    INSERT INTO ${table} (company_id, event_id, attendee_id, created_at, wallet, applied_price, blocks, label)
    VALUES ($1, $2, $3, clock_timestamp(), $4, $5, $6, $10) RETURNING *
  ), consumed AS (
    INSERT INTO attendee_tokens (event_id, attendee_id, chain_id, contract, token_id)
    SELECT made.event_id, made.attendee_id, t.* FROM made, unnest($7::bigint[], $8::text[], $9::numeric[]) AS t
  ), counted AS (
    UPDATE events SET total_attendees = total_attendees + 1 WHERE company_id = $1 AND id = $2
  )
  SELECT event_id, attendee_id, label, created_at FROM made`;

/** Registers a user with an eligible wallet for a locked event that has a place. */
export async function insertAdmitted(
  tx: Tx,
  { companyId, eventId, attendeeId, label = null }: NewAttendee,
  admission: Admission,
): Promise<Attendee> {
  const { wallet, price, blocks, tokens } = admission;
  const stored = blocks.map(({ number, ...block }) => ({ ...block, number: number.toString() }));
  const { rows } = await prepared<Row>(tx, 'admit_attendee', admitSql, [
    ...[companyId, eventId, attendeeId, wallet, price, JSON.stringify(stored)],
    ...columnsOf(tokens),
    label,
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error('the attendee was not inserted');
  return { ...fromRow(row), admission };
}

/**
 * Removes a user from a locked event.
 * @returns whether the user was registered
 */
export async function deleteAttendee(
  tx: Tx,
  companyId: string,
  eventId: string,
  attendeeId: string,
): Promise<boolean> {
  const deleted: number = await tx(table)
    .where(keyOf(companyId, eventId, attendeeId))
    .delete();
  return deleted > 0;
}
