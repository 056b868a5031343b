import type { Batches } from '../contract/batches.ts';
import { batchesCsv } from '../contract/batches-csv.ts';
import type { TextStream } from '../contract/text-stream.ts';
import type { Attendee } from './event.ts';

const names = ['attendee_id', 'created_at', 'checked_in_at', 'label', 'state'];

/** The attendees of an event as CSV. */
export const attendeesCsv = (attendees: Batches<Attendee>): TextStream =>
  batchesCsv(names, attendees, (attendee) => {
    const { attendeeId, createdAt, checkedInAt, label } = attendee;
    const times = [createdAt.toISOString(), checkedInAt?.toISOString() ?? ''];
    return [attendeeId, ...times, label ?? '', stateOf(attendee)];
  });

const stateOf = ({ isInside }: Attendee) => {
  if (isInside === null) return 'registered';
  return isInside ? 'inside' : 'outside';
};
