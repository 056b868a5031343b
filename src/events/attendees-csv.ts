import { csvLine } from '../base/csv.ts';
import type { Batches } from '../contract/batches.ts';
import { sizeInMemory } from '../contract/size-in-memory.ts';
import { TextStream } from '../contract/text-stream.ts';
import type { Attendee } from './event.ts';

/** The attendees of an event as CSV. */
export function attendeesCsv({ first, rest }: Batches<Attendee>): TextStream {
  const stream = new TextStream('text/csv; charset=utf-8', pieces(), sizeInMemory(first));
  return stream;

  async function* pieces(): AsyncGenerator<string> {
    yield csvLine(['attendee_id', 'created_at', 'checked_in_at', 'label', 'state']);
    yield linesOf(first);
    for await (const batch of rest ?? []) {
      stream.heldBytes = sizeInMemory(batch);
      yield linesOf(batch);
    }
  }
}

const linesOf = (attendees: readonly Attendee[]) =>
  attendees
    .map((attendee) => {
      const { attendeeId, createdAt, checkedInAt, label } = attendee;
      const times = [createdAt.toISOString(), checkedInAt?.toISOString() ?? ''];
      return csvLine([attendeeId, ...times, label ?? '', stateOf(attendee)]);
    })
    .join('');

const stateOf = ({ isInside }: Attendee) => {
  if (isInside === null) return 'registered';
  return isInside ? 'inside' : 'outside';
};
