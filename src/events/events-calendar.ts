import ical from 'ical-generator';
import type { Batches } from '../contract/batches.ts';
import { sizeInMemory } from '../contract/size-in-memory.ts';
import { TextStream } from '../contract/text-stream.ts';
import type { EventRecord } from './event.ts';

const begin = 'BEGIN:VEVENT';
const end = 'END:VCALENDAR';

/** Events as a calendar (RFC 5545) with times in UTC. Events without a start are not in it. */
export function eventsCalendar({ first, rest }: Batches<EventRecord>): TextStream {
  const stream = new TextStream('text/calendar; charset=utf-8', pieces(), sizeInMemory(first));
  return stream;

  async function* pieces(): AsyncGenerator<string> {
    const empty = calendarOf([]);
    yield empty.slice(0, empty.indexOf(end));
    yield entriesOf(first);
    for await (const batch of rest ?? []) {
      stream.heldBytes = sizeInMemory(batch);
      yield entriesOf(batch);
    }
    yield `${end}\r\n`;
  }
}

/**
 * The lines between the head and the end of a calendar. No line of a text begins so, since line breaks in texts are
 * escaped.
 */
function entriesOf(events: readonly EventRecord[]): string {
  const text = calendarOf(events);
  const from = text.indexOf(begin);
  return from < 0 ? '' : text.slice(from, text.lastIndexOf(end));
}

function calendarOf(events: readonly EventRecord[]): string {
  const calendar = ical({ prodId: '//Tallystick//Events//EN' });
  for (const event of events) {
    const { startDate, endDate } = event;
    if (startDate === null) continue;
    calendar.createEvent({
      id: event.id,
      sequence: event.version - 1,
      stamp: event.updatedAt,
      created: event.createdAt,
      lastModified: event.updatedAt,
      start: startDate,
      end: endDate !== null && secondOf(endDate) > secondOf(startDate) ? endDate : null,
      summary: writable(event.name),
      location: event.location === null ? null : writable(event.location),
      description: event.description === null ? null : writable(event.description),
    });
  }
  return calendar.toString();
}

/** A calendar has no fractions of seconds, and no end at its start. */
const secondOf = (date: Date) => Math.floor(date.getTime() / 1_000);

/** A text without the control characters that a calendar must not have. Tabs and line breaks stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const writable = (text: string) => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, '');
