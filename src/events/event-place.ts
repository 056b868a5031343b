import type { CountedRows } from '../db/list-counts-store.ts';
import { microsSql } from '../db/time-counts.ts';
import { columns, type Row } from './event-row.ts';

/** Which events to list: those whose start lies between both ends, which are included. */
export type EventFilter = {
  readonly startsFrom?: Date | undefined;
  readonly startsTo?: Date | undefined;
};

/** The place of an event in the list: by creation, then id. */
export type EventPlace = { readonly createdMicros: bigint; readonly id: string };

/** An event with the microseconds of its creation, finer than a Date. */
export type PlacedRow = Row & { readonly created_micros: string };

export const placedColumns = `${columns}, ${microsSql('created_at')} AS created_micros`;

export const placeOf = (row: PlacedRow): EventPlace => ({
  createdMicros: BigInt(row.created_micros),
  id: row.id,
});

// As migration 0039 has it: the newest come first, and so do their places.
export const latestPlace = (1n << 40n) - 1n;

/** The events of a company as they are counted: along the list, or by the time of their start. */
export const countedEvents = (list: 'events' | 'event_starts', companyId: string): CountedRows => ({
  ...{ list, companyId, facets: [''] },
});
