import type { NetworkRegistry } from '../chain/networks.ts';
import type { RpcClients } from '../chain/rpc/client/rpc-clients.ts';
import type { operations } from '../contract/generated/events.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import type { MayLag } from '../db/replica/replica-reads.ts';
import { createAdmissions } from './admission.ts';
import { createAttendeeHandlers } from './attendee-handlers.ts';
import { createCheckInHandlers } from './checkin/checkin-handlers.ts';
import { createDoorHandlers } from './checkin/door-handlers.ts';
import type { Tickets } from './checkin/tickets.ts';
import type { ChallengePlace } from './eligibility/challenge-text.ts';
import type { HoldingsReader } from './eligibility/holdings.ts';
import { createEligibilityHandlers } from './eligibility-handlers.ts';
import { createEventHandlers } from './event-handlers.ts';

export type EventsParts = {
  readonly db: Database;
  /** Answers lists. */
  readonly mayLag: MayLag;
  /** Which networks an event may name. */
  readonly networks: Pick<NetworkRegistry, 'find'>;
  readonly tickets: Tickets;
  readonly clients: Pick<RpcClients, 'pool'>;
  readonly holdings: HoldingsReader;
  /** What wallets are asked to sign for. */
  readonly place: ChallengePlace;
  /** The page that shows a ticket to a guest, if callers can reach it. */
  readonly ticketPage: string | undefined;
  /** Path of the events area, such as `/events/v1/api`. */
  readonly basePath: string;
};

/** The handlers of the events area, except the handler that all areas share. */
export function createEventsHandlers(
  parts: EventsParts,
): Handlers<Omit<operations, 'getEventsKey'>, CompanyContext, 'getTicketKeys'> {
  const admissions = createAdmissions(parts);
  return {
    ...createEventHandlers(parts),
    ...createAttendeeHandlers({ ...parts, admissions }),
    ...createEligibilityHandlers(parts),
    ...createCheckInHandlers(parts),
    ...createDoorHandlers(parts),
  };
}
