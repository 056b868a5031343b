import type { operations } from '../contract/generated/events.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import type { Tx } from '../contract/transaction.ts';
import { problem } from '../errors.ts';
import type { AttendeeStore } from './attendee-store.ts';
import type { EventRecord } from './event.ts';
import type { EventStore } from './event-store.ts';
import { attendeeToApi } from './to-api.ts';

type Parts = {
  readonly events: EventStore;
  readonly attendees: AttendeeStore;
  readonly transact: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
};

type AttendeeOperations = Pick<
  operations,
  'listAttendees' | 'addAttendee' | 'removeAttendee' | 'removeAttendeeById'
>;

/** Attendees of an event. Each change takes the lock of the event's row first, so changes of one event queue. */
export function createAttendeeHandlers(parts: Parts): Handlers<AttendeeOperations, CompanyContext> {
  const { events, attendees, transact } = parts;

  const lockEvent = async (tx: Tx, companyId: string, eventId: string) => {
    const event = await events.lock(tx, companyId, eventId);
    if (event === undefined) throw problem('event_not_found');
    return event;
  };

  const remove = (companyId: string, eventId: string, attendeeId: string) =>
    transact(async (tx) => {
      await lockEvent(tx, companyId, eventId);
      if (!(await attendees.remove(tx, companyId, eventId, attendeeId))) throw problem('attendee_not_found');
      await events.addToTotal(tx, companyId, eventId, -1);
      return { status: 204 } as const;
    });

  return {
    async listAttendees({ path }, { companyId }) {
      const list = await attendees.list(companyId, path.eventId);
      if (list === undefined) throw problem('event_not_found');
      return { status: 200, body: list.map(attendeeToApi) };
    },

    addAttendee: ({ path: { eventId }, body: { attendeeId } }, { companyId, once }) =>
      once(async (tx) => {
        const event = await lockEvent(tx, companyId, eventId);
        if (isFull(event)) {
          const invited = await attendees.has(tx, companyId, eventId, attendeeId);
          throw problem(invited ? 'attendee_already_invited' : 'event_full');
        }
        const attendee = await attendees.insert(tx, companyId, eventId, attendeeId);
        if (attendee === undefined) throw problem('attendee_already_invited');
        await events.addToTotal(tx, companyId, eventId, 1);
        return { status: 201, body: attendeeToApi(attendee) } as const;
      }),

    removeAttendee: ({ path, body }, { companyId }) => remove(companyId, path.eventId, body.attendeeId),

    removeAttendeeById: ({ path }, { companyId }) => remove(companyId, path.eventId, path.attendeeId),
  };
}

function isFull({ maxAttendees, totalAttendees }: EventRecord): boolean {
  return maxAttendees !== null && totalAttendees >= maxAttendees;
}
