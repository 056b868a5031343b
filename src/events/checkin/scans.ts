import { inputInvalid } from '../../base/errors.ts';
import type { InputError } from '../../base/problem.ts';
import type { components } from '../../contract/generated/events.ts';
import type { EventRecord } from '../event.ts';
import type { Tickets } from './tickets.ts';

type CheckInRequest = components['schemas']['CheckInRequest'];

/** What a text at the door stands for, before anybody knows whether the registration exists. */
export type Scanned =
  | { readonly by: 'ticket'; readonly attendeeId: string; readonly ticketId: string }
  | {
      readonly by: 'attendeeId';
      /** User IDs that the text may be, the exact text first. */
      readonly ids: readonly string[];
      /** Whether the text came in `items`, which take user IDs only for older events. */
      readonly isItem: boolean;
    }
  | { readonly by: null };

/**
 * Reads what the texts of a check-in stand for, in the order of the request.
 * @throws ProblemError `input_invalid` unless there are either items or scans, and each scan has one text
 */
export async function readScans(
  { items, scans }: CheckInRequest,
  eventId: string,
  tickets: Pick<Tickets, 'read'>,
): Promise<Scanned[]> {
  const fault = (pointer: string, message: string): InputError => ({ in: 'body', pointer, message });
  const ofTicket = async (text: string): Promise<Scanned> => {
    const ticket = await tickets.read(text, eventId);
    return ticket === undefined ? { by: null } : { by: 'ticket', ...ticket };
  };
  if (items !== undefined && scans !== undefined)
    throw inputInvalid([fault('/scans', 'scans must be absent where there are items')]);
  if (items !== undefined)
    return Promise.all(
      items.map(async (text) => {
        const scanned = await ofTicket(text);
        return scanned.by === null ? ofId(text, true) : scanned;
      }),
    );
  if (scans === undefined) throw inputInvalid([fault('/items', 'items or scans is required')]);
  const faults = scans.flatMap(({ ticket, attendeeId }, index) =>
    (ticket === undefined) === (attendeeId === undefined)
      ? [fault(`/scans/${index}`, `scans/${index} must have either ticket or attendeeId`)]
      : [],
  );
  if (faults.length > 0) throw inputInvalid(faults);
  return Promise.all(
    scans.map(async ({ ticket, attendeeId = '' }) =>
      ticket === undefined ? ofId(attendeeId, false) : ofTicket(ticket),
    ),
  );
}

const ofId = (text: string, isItem: boolean): Scanned => ({
  by: 'attendeeId',
  ids: [...new Set([text, text.trim()])],
  isItem,
});

/** The user IDs that a text may stand for. */
export function idsOf(scanned: Scanned): readonly string[] {
  if (scanned.by === null) return [];
  return scanned.by === 'ticket' ? [scanned.attendeeId] : scanned.ids;
}

/** Whether an event admits by what a text is. */
export const mayAdmit = (
  { ticketsOnly, idsInItems }: Pick<EventRecord, 'ticketsOnly' | 'idsInItems'>,
  scanned: Scanned,
): boolean =>
  scanned.by === 'ticket' || (scanned.by === 'attendeeId' && !ticketsOnly && (idsInItems || !scanned.isItem));
