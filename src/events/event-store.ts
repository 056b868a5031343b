import type { Knex } from 'knex';
import type { Tx } from '../contract/transaction.ts';
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

type Row = FieldColumns & {
  id: string;
  company_id: string;
  total_attendees: number;
  version: number;
  created_at: Date;
  updated_at: Date;
};

/** Narrows a list; both ends of the start are included. */
export type EventFilter = {
  readonly startsFrom?: Date | undefined;
  readonly startsTo?: Date | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
};

export type EventStore = ReturnType<typeof createEventStore>;

/** The events of companies. Each query is limited to one company: another one's event is not there. */
export function createEventStore(db: Knex) {
  return {
    /** Newest first, with the number of all that match on all pages together. */
    async list(companyId: string, filter: EventFilter): Promise<{ events: EventRecord[]; total: number }> {
      const { limit, offset = 0 } = filter;
      const query = matching(db, companyId, filter).orderBy([
        { column: 'created_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ]);
      if (limit !== undefined) query.limit(limit);
      if (offset > 0) query.offset(offset);
      const rows: Row[] = await query;
      const whole = limit === undefined && offset === 0;
      return {
        events: rows.map(fromRow),
        total: whole ? rows.length : await count(matching(db, companyId, filter)),
      };
    },

    async find(companyId: string, id: string): Promise<EventRecord | undefined> {
      const row: Row | undefined = await db(table).where({ company_id: companyId, id }).first();
      return row && fromRow(row);
    },

    /** The event, its row locked until the end of the transaction against changes, removal and new attendees. */
    async lock(tx: Tx, companyId: string, id: string): Promise<EventRecord | undefined> {
      const row: Row | undefined = await tx(table)
        .where({ company_id: companyId, id })
        .forNoKeyUpdate()
        .first();
      return row && fromRow(row);
    },

    async insert(tx: Tx, companyId: string, fields: EventFields): Promise<EventRecord> {
      const insertion = tx(table).insert({ company_id: companyId, ...toColumns(fields) }, '*');
      return written(insertion, fields);
    },

    /** Writes the fields of a locked event and gives it its next version. */
    async update(tx: Tx, companyId: string, id: string, fields: EventFields): Promise<EventRecord> {
      // Not now(): that is when the transaction began, before it waited for the lock.
      const next = { version: tx.raw('version + 1'), updated_at: tx.raw('clock_timestamp()') };
      const change = tx(table).where({ company_id: companyId, id });
      return written(change.update({ ...toColumns(fields), ...next }, '*'), fields);
    },

    /** Counts one attendee more or less of a locked event. */
    async addToTotal(tx: Tx, companyId: string, id: string, difference: 1 | -1): Promise<void> {
      await tx(table).where({ company_id: companyId, id }).increment('total_attendees', difference);
    },

    /** Removes a locked event; its attendees go with it. */
    async remove(tx: Tx, companyId: string, id: string): Promise<void> {
      await tx(table).where({ company_id: companyId, id }).delete();
    },
  };
}

function matching(db: Knex, companyId: string, { startsFrom, startsTo }: EventFilter) {
  const query = db(table).where({ company_id: companyId });
  if (startsFrom !== undefined) query.where('start_date', '>=', startsFrom.toISOString());
  if (startsTo !== undefined) query.where('start_date', '<=', startsTo.toISOString());
  return query;
}

async function count(query: Knex.QueryBuilder): Promise<number> {
  const [row]: { count: string }[] = await query.count();
  return Number(row?.count ?? 0);
}

/** The row that was written. A network that was taken out of the registry meanwhile fails the foreign key. */
async function written(query: Knex.QueryBuilder, { chainId }: EventFields): Promise<EventRecord> {
  const rows: Row[] = await query.catch((error: unknown) => {
    const foreignKey = error instanceof Error && 'code' in error && error.code === '23503';
    throw foreignKey && chainId !== null ? networkNotFound(chainId) : error;
  });
  const [row] = rows;
  if (row === undefined) throw new Error('the event was not written: its row was not locked');
  return fromRow(row);
}

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
