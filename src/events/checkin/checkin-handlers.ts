import { problem } from '../../base/errors.ts';
import type { components, operations } from '../../contract/generated/events.ts';
import { listCursor, positionOf } from '../../contract/list-cursor.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { inRounds, type Lacks } from '../../db/connection/rounds.ts';
import type { HoldingsReader } from '../eligibility/holdings.ts';
import { changesTooOften } from '../eligibility/read-network.ts';
import type { EventRecord } from '../event.ts';
import { existing } from '../event-rules.ts';
import { findEvent } from '../event-store.ts';
import { admit, findTicketed, listRevoked, lockRegistrations, type Registration } from './checkin-store.ts';
import { findIneligible, type Reading } from './recheck.ts';
import { idsOf, mayAdmit, readScans, type Scanned } from './scans.ts';
import type { Ticket, Tickets } from './tickets.ts';

type Schemas = components['schemas'];

type Parts = {
  readonly db: Database;
  readonly tickets: Tickets;
  readonly holdings: HoldingsReader;
  /** Path of the events area, such as `/events/v1/api`. */
  readonly basePath: string;
};

type CheckInOperations = Pick<
  operations,
  'checkInAttendees' | 'getTicket' | 'listRevokedTickets' | 'getTicketKeys'
>;

type CheckedIn = { readonly status: 200; readonly body: Schemas['CheckInResult'] };

const usualLimit = 200;
const cacheControl = 'public, max-age=300';

/** Tickets of attendees, and their admission at the door. */
export function createCheckInHandlers({
  db,
  tickets,
  holdings,
  basePath,
}: Parts): Handlers<CheckInOperations, CompanyContext, 'getTicketKeys'> {
  return {
    async checkInAttendees({ path: { eventId }, body }, { companyId, once, origin }) {
      const key = { companyId, eventId };
      const scanned = await readScans(body, eventId, tickets);
      const named = [...new Set(scanned.flatMap(idsOf))];
      const field = body.items === undefined ? '/scans' : '/items';
      const attempt = (reading: Reading | undefined, lacks: Lacks<Reading>): Promise<CheckedIn> =>
        once(async (tx) => {
          const rechecks = { holdings, reading, lacks, field } as const;
          const event = existing(await findEvent(tx, companyId, eventId));
          const registrations = await lockRegistrations(tx, key, named);
          const candidates = scanned.map((scan) => candidateOf(event, scan, registrations));
          const admissible = candidates.flatMap(({ registration, isAdmissible }) =>
            isAdmissible && registration !== undefined ? [registration] : [],
          );
          const ineligible = await findIneligible(tx, event, [...new Set(admissible)], rechecks);
          const decided = decide(candidates, ineligible);
          const newly = decided.flatMap(({ status, registration }) =>
            status === 'admitted' && registration !== undefined ? [registration.attendeeId] : [],
          );
          const admitted = await admit(tx, key, newly, origin);
          const results = decided.map(({ by, registration, status }): Schemas['CheckedIn'] => {
            if (registration === undefined) return { attendeeId: null, by: null, status, checkedInAt: null };
            const { attendeeId, checkedInAt } = registration;
            const at = checkedInAt ?? admitted.get(attendeeId);
            return { attendeeId, by, status, checkedInAt: at?.toISOString() ?? null };
          });
          return { status: 200, body: { items: results } } as const;
        });
      return inRounds(attempt, changesTooOften);
    },

    async getTicket({ path: { eventId, attendeeId } }, { companyId }) {
      const event = existing(await findEvent(db, companyId, eventId));
      const registration = await findTicketed(db, { companyId, eventId }, attendeeId);
      if (registration === undefined) throw problem('attendee_not_found');
      const { ticketId, createdAt } = registration;
      const { startDate, endDate } = event;
      const expiresAt = expiryOf({ startDate, endDate, createdAt });
      const ticket: Ticket = { eventId: event.id, attendeeId, ticketId, expiresAt };
      const text = await tickets.sign(ticket);
      return { status: 200, body: { ticket: text, ticketId, expiresAt: expiresAt.toISOString() } };
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

/** The registration that a scan stands for, if there is one. */
type Candidate = {
  readonly by: Scanned['by'];
  readonly registration: Registration | undefined;
  /** Returns whether the event admits by this kind of scan. */
  readonly isAdmissible: boolean;
};

function candidateOf(
  event: EventRecord,
  scanned: Scanned,
  registrations: ReadonlyMap<string, Registration>,
): Candidate {
  const found = idsOf(scanned).flatMap((id) => registrations.get(id) ?? []);
  const [registration] = found.filter(
    ({ ticketId }) => scanned.by !== 'ticket' || scanned.ticketId === ticketId,
  );
  return { by: scanned.by, registration, isAdmissible: mayAdmit(event, scanned) };
}

type Decision = Candidate & { readonly status: Schemas['CheckInStatus'] };

/** Decides about each scan. Of several for one attendee, the first admits. */
function decide(candidates: readonly Candidate[], ineligible: ReadonlySet<string>): Decision[] {
  const admitted = new Set<Registration>();
  const statusOf = ({ registration, isAdmissible }: Candidate): Schemas['CheckInStatus'] => {
    if (registration === undefined) return 'unknown';
    if (!isAdmissible) return 'ticket_required';
    if (registration.checkedInAt !== null || admitted.has(registration)) return 'already_admitted';
    if (ineligible.has(registration.ticketId)) return 'no_longer_eligible';
    admitted.add(registration);
    return 'admitted';
  };
  return candidates.map((candidate) => ({ ...candidate, status: statusOf(candidate) }));
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
