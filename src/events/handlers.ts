import type { operations } from '../contract/generated/events.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import type { Tx } from '../contract/transaction.ts';
import { inTransaction } from '../db/transaction.ts';
import { createAttendeeHandlers } from './attendee-handlers.ts';
import { createAttendeeStore } from './attendee-store.ts';
import { createEventHandlers } from './event-handlers.ts';
import type { Networks } from './event-rules.ts';
import { createEventStore } from './event-store.ts';

export type EventsParts = {
  readonly db: Parameters<typeof inTransaction>[0];
  /** Which networks an event may name. */
  readonly networks: Networks;
  /** Path of the events area, such as `/events/v1/api`. */
  readonly basePath: string;
};

/** The handlers of the events area. */
export function createEventsHandlers({
  db,
  networks,
  basePath,
}: EventsParts): Handlers<operations, CompanyContext> {
  const events = createEventStore(db);
  const attendees = createAttendeeStore(db);
  const transact = <T>(work: (tx: Tx) => Promise<T>) => inTransaction(db, work);
  return {
    ...createEventHandlers({ events, networks, basePath, transact }),
    ...createAttendeeHandlers({ events, attendees, transact }),
  };
}
