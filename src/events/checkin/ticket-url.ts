import type { EventRecord } from '../event.ts';

// As much of a name or place as the page of a ticket shows.
const longestText = 200;

/**
 * Returns the link to the page of a ticket. The ticket and what the guest reads of the event are in the fragment, which
 * browsers send to nobody, so the page asks no server.
 * @param page address of the page of tickets
 */
export function ticketUrl(
  page: string,
  ticket: string,
  { name, startDate, endDate, location }: Pick<EventRecord, 'name' | 'startDate' | 'endDate' | 'location'>,
): string {
  const parts = {
    name: shortened(name),
    start: startDate?.toISOString(),
    end: endDate?.toISOString(),
    place: location === null ? undefined : shortened(location),
  };
  const written = Object.entries(parts).flatMap(([part, text]) =>
    text === undefined ? [] : [`&${part}=${encodeURIComponent(text)}`],
  );
  return `${page}#${ticket}${written.join('')}`;
}

/** The beginning of a text. A lone half of a character could not be encoded. */
const shortened = (text: string) => [...text].slice(0, longestText).join('').toWellFormed();
