import type { CountedRows } from '../db/list-counts-store.ts';

/** Which events to list: those whose start lies between both ends, which are included. */
export type EventFilter = {
  readonly startsFrom?: Date | undefined;
  readonly startsTo?: Date | undefined;
};

/** The place of an event in the list: by creation, then id. */
export type EventPlace = { readonly createdMicros: bigint; readonly id: string };

// Before every event, in a time that the server knows.
export const beginning: EventPlace = {
  createdMicros: 1n << 61n,
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** The events of a company as they are counted: along the list, or by the time of their start. */
export const countedEvents = (list: 'events' | 'event_starts', companyId: string): CountedRows => ({
  ...{ list, companyId, facets: [''] },
});
