import type { Database, Tx } from '../contract/transaction.ts';
import { prepared } from '../db/prepared.ts';
import { type Batches, mapBatches, readInBatches } from './batches.ts';
import type { EventFields, EventRecord } from './event.ts';
import { networkNotFound } from './event-rules.ts';

const table = 'events';

type FieldColumns = {
  name: string;
  location: string | null;
  description: string | null;
  program: string | null;
  start_date: Date | null;
  end_date: Date | null;
  max_attendees: number | null;
  price: string | null;
  currency: string | null;
  discount_price: string | null;
  discount_percentage: string | null;
  contract_required_to_attend: readonly string[];
  contract_required_to_discount: readonly string[];
  cover_image: string | null;
  gallery_images: readonly string[];
  chain_id: string | null;
};

const fieldColumns = [
  ...([
    'name',
    'location',
    'description',
    'program',
    'start_date',
    'end_date',
    'max_attendees',
    'price',
  ] as const),
  ...(['currency', 'discount_price', 'discount_percentage', 'contract_required_to_attend'] as const),
  ...(['contract_required_to_discount', 'cover_image', 'gallery_images', 'chain_id'] as const),
];
const columns = [
  'id',
  'company_id',
  ...fieldColumns,
  'total_attendees',
  'version',
  'created_at',
  'updated_at',
].join();

type Row = FieldColumns & {
  id: string;
  company_id: string;
  total_attendees: number;
  version: number;
  created_at: Date;
  updated_at: Date;
};

function toColumns(fields: EventFields) {
  return {
    name: fields.name,
    location: fields.location,
    description: fields.description,
    program: fields.program,
    // As text in UTC: the driver would write a Date in the zone of the process.
    start_date: fields.startDate?.toISOString() ?? null,
    end_date: fields.endDate?.toISOString() ?? null,
    max_attendees: fields.maxAttendees,
    price: fields.price,
    currency: fields.currency,
    discount_price: fields.discountPrice,
    discount_percentage: fields.discountPercentage,
    contract_required_to_attend: fields.contractRequiredToAttend,
    contract_required_to_discount: fields.contractRequiredToDiscount,
    cover_image: fields.coverImage,
    gallery_images: fields.galleryImages,
    chain_id: fields.chainId,
  };
}

function fromRow(row: Row): EventRecord {
  return {
    id: row.id,
    companyId: row.company_id,
    name: row.name,
    location: row.location,
    description: row.description,
    program: row.program,
    startDate: row.start_date,
    endDate: row.end_date,
    maxAttendees: row.max_attendees,
    price: toNumber(row.price),
    currency: row.currency,
    discountPrice: toNumber(row.discount_price),
    discountPercentage: toNumber(row.discount_percentage),
    contractRequiredToAttend: row.contract_required_to_attend,
    contractRequiredToDiscount: row.contract_required_to_discount,
    coverImage: row.cover_image,
    galleryImages: row.gallery_images,
    chainId: row.chain_id,
    totalAttendees: row.total_attendees,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

// Exact: each was written as the shortest decimal text of a JSON number, which reads back as that number.
function toNumber(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** Which events to list: those whose start lies between both ends, which are included, from which place. */
export type EventFilter = {
  readonly startsFrom?: Date | undefined;
  readonly startsTo?: Date | undefined;
  /** Events before the page; 0 by default. */
  readonly offset?: number | undefined;
};

/** A page of events, and the number of events on all pages. */
type EventPage = { readonly events: EventRecord[]; readonly total: number };

/** A page of the events of a company that match the filter, newest first. */
export async function listEvents(
  db: Database,
  companyId: string,
  { limit, ...filter }: EventFilter & { readonly limit: number },
): Promise<EventPage> {
  const page = newestFirst(db, companyId, filter).limit(limit);
  // Rows that an offset skips are not read: the index has what the order needs.
  const isDeep = (filter.offset ?? 0) > 0;
  const ids = db.select('id').from(page.clone().select('id').as('page'));
  const rows: Row[] = await (isDeep ? newestFirst(db, companyId, {}).whereIn('id', ids) : page);
  return { events: rows.map(fromRow), total: await countEvents(db, companyId, filter) };
}

/** An event with its place in the list, finer than a Date. */
type PlacedRow = Row & { exact_created_at: string };

// Events of 100 kB are followed by few, small ones by many.
const firstBatch = 20;
const batchLength = 1_000_000;

function sizeAfter(batch: readonly Row[]): number {
  const length = batch.reduce(
    (sum, { description, program }) => sum + 700 + (description?.length ?? 0) + (program?.length ?? 0),
    0,
  );
  return Math.min(200, Math.max(10, Math.floor((batchLength * batch.length) / length)));
}

/**
 * All events of a company that match the filter, newest first. What is deleted before its batch is read is not in it,
 * and what is created meanwhile neither.
 */
export async function readAllEvents(
  db: Database,
  companyId: string,
  { offset = 0, ...filter }: EventFilter,
): Promise<Batches<EventRecord>> {
  const { first, rest } = await readInBatches<PlacedRow>({
    size: firstBatch,
    sizeAfter,
    read: (after, size) => {
      const query = newestFirst(db, companyId, { ...filter, offset: after === undefined ? offset : 0 });
      const place = [after?.exact_created_at ?? '', after?.id ?? ''];
      if (after !== undefined) query.whereRaw('(created_at, id) < (?::timestamptz, ?::uuid)', place);
      return query.limit(size).select('*', db.raw('created_at::text AS exact_created_at'));
    },
  });
  return { first: first.map(fromRow), rest: rest && mapBatches(rest, fromRow) };
}

/** The number of events of a company that match the filter, whatever its offset. */
export async function countEvents(db: Database, companyId: string, filter: EventFilter): Promise<number> {
  const [row]: { count: string }[] = await matching(db, companyId, filter).count();
  return Number(row?.count ?? 0);
}

const findSql = `SELECT ${columns} FROM ${table} WHERE company_id = $1 AND id = $2`;
const lockSql = `${findSql} FOR NO KEY UPDATE`;

/**
 * One event of a company.
 * @returns undefined when the company has no such event
 */
export async function findEvent(
  db: Database,
  companyId: string,
  id: string,
): Promise<EventRecord | undefined> {
  const { rows } = await prepared<Row>(db, 'find_event', findSql, [companyId, id]);
  return rows[0] && fromRow(rows[0]);
}

/**
 * Locks the row of an event until the end of the transaction, against changes, removal and new attendees.
 * @returns undefined when the company has no such event
 */
export async function lockEvent(tx: Tx, companyId: string, id: string): Promise<EventRecord | undefined> {
  const { rows } = await prepared<Row>(tx, 'lock_event', lockSql, [companyId, id]);
  return rows[0] && fromRow(rows[0]);
}

const insertSql = `INSERT INTO ${table} (company_id, ${fieldColumns.join()})
  VALUES ($1, ${fieldColumns.map((_, index) => `$${index + 2}`).join()}) RETURNING ${columns}`;

/**
 * Inserts an event without attendees, in its first version.
 * @throws ProblemError `network_not_found` when its network has left the registry
 */
export async function insertEvent(tx: Tx, companyId: string, fields: EventFields): Promise<EventRecord> {
  const row = toColumns(fields);
  const values = [companyId, ...fieldColumns.map((column) => row[column])];
  return written(
    prepared<Row>(tx, 'insert_event', insertSql, values).then(({ rows }) => rows),
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

const addToTotalSql = `UPDATE ${table} SET total_attendees = total_attendees + $3
  WHERE company_id = $1 AND id = $2`;

/** Adds to the number of attendees of a locked event, or subtracts from it. */
export async function addToTotalAttendees(
  tx: Tx,
  companyId: string,
  id: string,
  difference: 1 | -1,
): Promise<void> {
  await prepared(tx, 'add_to_attendees', addToTotalSql, [companyId, id, difference]);
}

/** Deletes a locked event and its attendees. */
export async function deleteEvent(tx: Tx, companyId: string, id: string): Promise<void> {
  await tx(table).where({ company_id: companyId, id }).delete();
}

function matching(db: Database, companyId: string, { startsFrom, startsTo }: EventFilter) {
  const query = db(table).where({ company_id: companyId });
  if (startsFrom !== undefined) query.where('start_date', '>=', startsFrom.toISOString());
  if (startsTo !== undefined) query.where('start_date', '<=', startsTo.toISOString());
  return query;
}

function newestFirst(db: Database, companyId: string, filter: EventFilter) {
  const query = matching(db, companyId, filter).orderBy([
    { column: 'created_at', order: 'desc' },
    { column: 'id', order: 'desc' },
  ]);
  return filter.offset === undefined || filter.offset === 0 ? query : query.offset(filter.offset);
}

// A network that left the registry after the caller looked it up violates the foreign key.
async function written(writing: Promise<Row[]>, { chainId }: EventFields): Promise<EventRecord> {
  const rows = await writing.catch((error: unknown) => {
    const foreignKey = error instanceof Error && 'code' in error && error.code === '23503';
    throw foreignKey && chainId !== null ? networkNotFound(chainId) : error;
  });
  const [row] = rows;
  if (row === undefined) throw new Error('the event was not written: its row was not locked');
  return fromRow(row);
}
