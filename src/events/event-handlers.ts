import { isDeepStrictEqual } from 'node:util';
import { problem } from '../base/errors.ts';
import { parseIsoDate } from '../base/iso-date.ts';
import type { InputError } from '../base/problem.ts';
import { arrayOf } from '../contract/batches.ts';
import { assertMatch, entityTag } from '../contract/entity-tag.ts';
import type { operations } from '../contract/generated/events.ts';
import { arrayPageHeaders, cutPage, positionOf, timedForm } from '../contract/list-cursor.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import type { Database, Tx } from '../contract/transaction.ts';
import { inTransaction } from '../db/connection/transaction.ts';
import { recordByKey } from '../db/records/audit-store.ts';
import type { MayLag } from '../db/replica/replica-reads.ts';
import type { EventFilter, EventRecord } from './event.ts';
import { applyChanges, eventFields, instantMessage, namedOnly, readChanges } from './event-fields.ts';
import { countEvents, type EventStart, listEvents, readAllEvents, readListed } from './event-list-store.ts';
import {
  discountFaults,
  existing,
  type Networks,
  refuseFaults,
  refuseInput,
  ruleFaults,
} from './event-rules.ts';
import { deleteEvent, findEvent, insertEvent, lockEvent, updateEvent } from './event-store.ts';
import { eventsCalendar } from './events-calendar.ts';
import type { ListedEvent } from './page-rows.ts';
import { eventToApi } from './to-api.ts';

type Parts = {
  readonly db: Database;
  readonly mayLag: MayLag;
  readonly networks: Networks;
  /** Path of the events area, such as `/events/v1/api`. */
  readonly basePath: string;
};

type EventOperations = Pick<
  operations,
  'listEvents' | 'createEvent' | 'getEvent' | 'updateEvent' | 'deleteEvent'
>;

/** The events of the caller's company. */
export function createEventHandlers(parts: Parts): Handlers<EventOperations, CompanyContext> {
  const { db, mayLag, networks, basePath } = parts;

  return {
    async listEvents({ query }, { companyId, preferred }) {
      const filter = readRange(query);
      const asked = { companyId, path: `${basePath}/event`, query };
      const [createdMicros, id] = positionOf(asked, timedForm) ?? [];
      const start =
        createdMicros === undefined || id === undefined
          ? { offset: query.offset ?? 0 }
          : { after: { createdMicros: BigInt(createdMicros), id } };
      const { limit } = query;
      const isCalendar = prefersCalendar(preferred);
      if (isCalendar || limit === undefined) {
        const { found, headers } = await allEvents(mayLag, companyId, filter, start);
        return {
          status: 200,
          body: isCalendar ? eventsCalendar(found) : arrayOf(found, eventToApi),
          headers,
        };
      }
      const { found, total } = await mayLag(async (from) => ({
        found: await listEvents(from, companyId, filter, { limit: limit + 1, ...start }),
        total: await countEvents(from, companyId, filter),
      }));
      const { rows, cursor } = cutPage(asked, found, limit, positionText);
      const headers = { 'X-Total-Count': String(total), ...arrayPageHeaders(asked, cursor) };
      return { status: 200, body: arrayOf(readListed(db, companyId, rows), eventToApi), headers };
    },

    async createEvent({ body }, { companyId, onceByStatement, origin }) {
      const { changes, faults } = readChanges(body);
      const fields = applyChanges(namedOnly(body.name), changes);
      const ofRules = [...ruleFaults(fields, changes), ...discountFaults(fields)];
      await refuseInput([...faults, ...ofRules], fields.chainId, networks);
      return onceByStatement(async (store) => {
        const event = await insertEvent(store, companyId, fields, origin);
        const headers = { ETag: eventTag(event), Location: `${basePath}/event/${event.id}` };
        return { status: 201, body: eventToApi(event), headers } as const;
      });
    },

    async getEvent({ path }, { companyId, preferred }) {
      const event = existing(await findEvent(db, companyId, path.eventId));
      const reply = tagged(event);
      if (!prefersCalendar(preferred)) return reply;
      return { ...reply, body: eventsCalendar({ first: [event], rest: undefined }) };
    },

    async updateEvent({ path: { eventId }, header, body = {} }, { companyId, origin }) {
      const { changes, faults } = readChanges(body);
      await refuseInput(faults, changes.chainId, networks);
      return inTransaction(db, async (tx) => {
        const event = await lockVersion(tx, companyId, eventId, header['If-Match']);
        const fields = applyChanges(event, changes);
        refuseFaults(ruleFaults(fields, changes));
        if (fields.maxAttendees !== null && fields.maxAttendees < event.totalAttendees)
          throw problem('max_attendees_too_low');
        // A change that is sent again must leave the event and its tag as they are.
        if (isDeepStrictEqual(fields, eventFields(event))) return tagged(event);
        const details = { fields: Object.keys(body) };
        await recordByKey(tx, { action: 'event.update', companyId, subject: eventId, details }, origin);
        return tagged(await updateEvent(tx, companyId, eventId, fields));
      });
    },

    deleteEvent: ({ path: { eventId }, header }, { companyId, origin }) =>
      inTransaction(db, async (tx) => {
        await lockVersion(tx, companyId, eventId, header['If-Match']);
        await deleteEvent(tx, companyId, eventId);
        await recordByKey(tx, { action: 'event.delete', companyId, subject: eventId }, origin);
        return { status: 204 } as const;
      }),
  };
}

const prefersCalendar = (preferred: CompanyContext['preferred']) =>
  preferred(['application/json', 'text/calendar']) === 'text/calendar';

const positionText = ({ createdMicros, id }: ListedEvent) => `${createdMicros}.${id}`;

async function allEvents(mayLag: MayLag, companyId: string, filter: EventFilter, start: EventStart) {
  const found = await readAllEvents(mayLag, companyId, filter, start);
  const isCounted = found.rest === undefined && start.after === undefined && start.offset === 0;
  const total = isCounted ? found.first.length : await mayLag((from) => countEvents(from, companyId, filter));
  return { found, headers: { 'X-Total-Count': String(total) } };
}

/**
 * Locks an event for a change.
 * @param ifMatch the `If-Match` header, which names the versions that the caller wants to change
 * @throws ProblemError `event_not_found`, or `precondition_failed` or `etag_weakened` when the event has another version
 */
async function lockVersion(
  tx: Tx,
  companyId: string,
  id: string,
  ifMatch: string | undefined,
): Promise<EventRecord> {
  const event = existing(await lockEvent(tx, companyId, id));
  assertMatch(ifMatch, eventTag(event));
  return event;
}

function tagged(event: EventRecord) {
  return { status: 200, body: eventToApi(event), headers: { ETag: eventTag(event) } } as const;
}

/** The tag changes with the representation, so also with `totalAttendees`. */
const eventTag = ({ id, version, totalAttendees }: EventRecord) =>
  entityTag(id, String(version), totalAttendees);

type RangeQuery = { readonly startsFrom?: string; readonly startsTo?: string };

function readRange(query: RangeQuery): EventFilter {
  const faults: InputError[] = [];
  const read = (name: 'startsFrom' | 'startsTo') => {
    const text = query[name];
    if (text === undefined) return undefined;
    const parsed = parseIsoDate(text);
    if (parsed === undefined) faults.push({ in: 'query', name, message: instantMessage(name) });
    return parsed;
  };
  const range = { startsFrom: read('startsFrom'), startsTo: read('startsTo') };
  refuseFaults(faults);
  return range;
}
