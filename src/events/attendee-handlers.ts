import { problem } from '../base/errors.ts';
import { arrayOf } from '../contract/batches.ts';
import type { operations } from '../contract/generated/events.ts';
import { arrayPageHeaders, cutPage, positionOf } from '../contract/list-cursor.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import { nameFault } from '../contract/visible-text.ts';
import { inTransaction } from '../db/connection/transaction.ts';
import { recordByKey } from '../db/records/audit-store.ts';
import type { MayLag } from '../db/replica/replica-reads.ts';
import type { Admissions } from './admission.ts';
import {
  deleteAttendee,
  listAttendees,
  readAttendees,
  registerAttendee,
  walletRequired,
} from './attendee-store.ts';
import { attendeesCsv } from './attendees-csv.ts';
import { existing, refuseFaults } from './event-rules.ts';
import { countOneLess, lockEvent } from './event-store.ts';
import { attendeeToApi } from './to-api.ts';

type Parts = {
  readonly db: Database;
  readonly mayLag: MayLag;
  readonly admissions: Admissions;
  /** Path of the events area, such as `/events/v1/api`. */
  readonly basePath: string;
};

type AttendeeOperations = Pick<
  operations,
  'listAttendees' | 'addAttendee' | 'removeAttendee' | 'removeAttendeeById'
>;

/**
 * The attendees of events. Each change locks the event's row first, so changes to one event run one after the
 * other.
 */
export function createAttendeeHandlers({
  db,
  mayLag,
  admissions,
  basePath,
}: Parts): Handlers<AttendeeOperations, CompanyContext> {
  const remove = (
    { companyId, origin }: CompanyContext,
    { eventId, attendeeId }: { readonly eventId: string; readonly attendeeId: string },
  ) =>
    inTransaction(db, async (tx) => {
      existing(await lockEvent(tx, companyId, eventId));
      const isRemoved = await deleteAttendee(tx, companyId, eventId, attendeeId);
      if (!isRemoved) throw problem('attendee_not_found');
      await countOneLess(tx, companyId, eventId);
      const details = { attendeeId };
      await recordByKey(tx, { action: 'attendee.remove', companyId, subject: eventId, details }, origin);
      return { status: 204 } as const;
    });

  return {
    async listAttendees({ path: { eventId }, query }, { companyId, preferred }) {
      const asked = { companyId, path: `${basePath}/event/${eventId}/attendees`, query };
      const [after] = positionOf(asked, /^(\d{1,18})$/) ?? [];
      const { limit } = query;
      const isFile = preferred(['application/json', 'text/csv']) === 'text/csv';
      if (isFile || limit === undefined) {
        const attendees = existing(await readAttendees(mayLag, companyId, eventId, after));
        return { status: 200, body: isFile ? attendeesCsv(attendees) : arrayOf(attendees, attendeeToApi) };
      }
      const found = existing(
        await mayLag((from) => listAttendees(from, companyId, eventId, { limit: limit + 1, after })),
      );
      const { rows, cursor } = cutPage(asked, found, limit, ({ place }) => place);
      return { status: 200, body: rows.map(attendeeToApi), headers: arrayPageHeaders(asked, cursor) };
    },

    addAttendee: async ({ path: { eventId }, body }, context) => {
      const { attendeeId, wallet = null, proof = null, tokenIds = null } = body;
      const label = labelOf(body.label);
      if (wallet !== null)
        return admissions.admit({ eventId, attendeeId, label, wallet, proof, tokenIds }, context);
      if (proof !== null || tokenIds !== null) throw walletRequired();
      const { companyId, onceByStatement, origin } = context;
      return onceByStatement(async (db) => {
        const attendee = await registerAttendee(db, { companyId, eventId, attendeeId, label }, origin);
        return { status: 201, body: attendeeToApi(attendee) } as const;
      });
    },

    removeAttendee: ({ path, body }, context) =>
      remove(context, { eventId: path.eventId, attendeeId: body.attendeeId }),

    removeAttendeeById: ({ path }, context) => remove(context, path),
  };
}

/** @throws ProblemError `input_invalid` for a label that nobody sees */
function labelOf(sent: string | null | undefined): string | null {
  const label = sent?.trim();
  if (label === undefined) return null;
  const message = nameFault(label);
  if (message !== undefined) refuseFaults([{ in: 'body', pointer: '/label', message: `label ${message}` }]);
  return label;
}
