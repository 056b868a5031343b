import type { operations } from '../contract/generated/events.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import type { MayLag } from '../db/replica/replica-reads.ts';
import { createAttendeeHandlers } from './attendee-handlers.ts';
import { createCheckInHandlers } from './checkin/checkin-handlers.ts';
import type { Tickets } from './checkin/tickets.ts';
import { createEventHandlers } from './event-handlers.ts';
import type { Networks } from './event-rules.ts';

export type EventsParts = {
  readonly db: Database;
  /** Answers lists. */
  readonly mayLag: MayLag;
  /** Which networks an event may name. */
  readonly networks: Networks;
  readonly tickets: Tickets;
  /** Path of the events area, such as `/events/v1/api`. */
  readonly basePath: string;
};

/** The handlers of the events area, but for the one that all areas share. */
export function createEventsHandlers(
  parts: EventsParts,
): Handlers<Omit<operations, 'getEventsKey'>, CompanyContext, 'getTicketKeys'> {
  return {
    ...createEventHandlers(parts),
    ...createAttendeeHandlers(parts),
    ...createCheckInHandlers(parts),
  };
}
