import { problem } from '../../base/errors.ts';
import { parseIsoDate } from '../../base/iso-date.ts';
import type { operations } from '../../contract/generated/events.ts';
import { listCursor, positionOf } from '../../contract/list-cursor.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import type { HoldingsReader } from '../eligibility/holdings.ts';
import { existing } from '../event-rules.ts';
import { findEvent } from '../event-store.ts';
import { checkIn } from './check-in.ts';
import { findTicketed, listRevoked } from './checkin-store.ts';
import { readScans } from './scans.ts';
import { ticketUrl } from './ticket-url.ts';
import type { Tickets } from './tickets.ts';

type Parts = {
  readonly db: Database;
  readonly tickets: Tickets;
  readonly holdings: HoldingsReader;
  /** The page that shows a ticket to a guest, if callers can reach it. */
  readonly ticketPage: string | undefined;
  /** Path of the events area, such as `/events/v1/api`. */
  readonly basePath: string;
};

type CheckInOperations = Pick<
  operations,
  'checkInAttendees' | 'getTicket' | 'listRevokedTickets' | 'getTicketKeys'
>;

const usualLimit = 200;
const cacheControl = 'public, max-age=300';

/** Tickets of attendees, and their admission at the door. */
export function createCheckInHandlers({
  db,
  tickets,
  holdings,
  ticketPage,
  basePath,
}: Parts): Handlers<CheckInOperations, CompanyContext, 'getTicketKeys'> {
  return {
    async checkInAttendees({ path: { eventId }, body }, context) {
      const arrivedMs = Date.now();
      const scans = await readScans(body, eventId, tickets);
      const sentAt = parseIsoDate(body.sentAt ?? '');
      const clockSkew = sentAt === undefined ? null : Math.round((sentAt.getTime() - arrivedMs) / 1_000);
      const field = body.items === undefined ? '/scans' : '/items';
      return checkIn(holdings, { eventId, scans, field, clockSkew }, context);
    },

    async getTicket({ path: { eventId, attendeeId } }, { companyId }) {
      const event = existing(await findEvent(db, companyId, eventId));
      const registration = await findTicketed(db, { companyId, eventId }, attendeeId);
      if (registration === undefined) throw problem('attendee_not_found');
      const { ticketId, createdAt } = registration;
      const { startDate, endDate } = event;
      const expiresAt = expiryOf({ startDate, endDate, createdAt });
      const label = event.labelOnTickets ? registration.label : null;
      const ticket = await tickets.sign({ eventId: event.id, attendeeId, ticketId, expiresAt, label });
      const url = ticketPage === undefined ? null : ticketUrl(ticketPage, ticket, event);
      return { status: 200, body: { ticket, ticketId, expiresAt: expiresAt.toISOString(), url } };
    },

    async listRevokedTickets(
      { path: { eventId }, query: { after = '', limit = usualLimit } },
      { companyId },
    ) {
      const listPath = `${basePath}/event/${eventId}/tickets/revoked`;
      const asked = { companyId, path: listPath, query: after === '' ? {} : { cursor: after } };
      const [place] = positionOf(asked, /^(\d{1,18})$/, 'after') ?? [];
      existing(await findEvent(db, companyId, eventId));
      const found = await listRevoked(db, { companyId, eventId }, { after: place, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const body = {
        tickets: page.map(({ ticketId, attendeeId, revokedAt }) => ({
          ticketId,
          attendeeId,
          revokedAt: revokedAt.toISOString(),
        })),
        cursor: last === undefined ? after : listCursor(asked, last.place),
        hasMore: found.length > limit,
      };
      return { status: 200, body };
    },

    async getTicketKeys() {
      // An empty set would be kept by caches.
      if (tickets.publicKeys.length === 0) throw problem('service_unavailable');
      const headers = { 'Cache-Control': cacheControl };
      return { status: 200, headers, body: { keys: [...tickets.publicKeys] } };
    },
  };
}

const dayMs = 86_400_000;
// The last second that RFC 3339 can write.
const latest = Date.UTC(9999, 11, 31, 23, 59, 59);

type Dates = {
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  /** When the attendee was registered. */
  readonly createdAt: Date;
};

/** When a ticket expires, in whole seconds: a day after the end of the event, or else a year after its start or the registration. */
function expiryOf({ startDate, endDate, createdAt }: Dates): Date {
  const ms =
    endDate === null
      ? Math.max(startDate?.getTime() ?? 0, createdAt.getTime()) + 365 * dayMs
      : endDate.getTime() + dayMs;
  return new Date(Math.min(Math.floor(ms / 1_000) * 1_000, latest));
}
