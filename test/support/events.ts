import { expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { type EventStart, listEvents } from '../../src/events/event-list-store.ts';
import type { EventFilter } from '../../src/events/event-place.ts';
import type { ListedEvent } from '../../src/events/page-rows.ts';

/** A page of events as it is read where few match and where many do, which must be the same. */
export async function listEventsBothWays(
  db: Database,
  companyId: string,
  filter: EventFilter,
  page: EventStart & { readonly limit: number },
): Promise<ListedEvent[]> {
  const walked = await listEvents(db, companyId, filter, { ...page, total: Number.MAX_SAFE_INTEGER });
  expect(await listEvents(db, companyId, filter, { ...page, total: 0 })).toEqual(walked);
  return walked;
}
