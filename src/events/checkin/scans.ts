import { inputInvalid } from '../../base/errors.ts';
import { parseIsoDate } from '../../base/iso-date.ts';
import type { components } from '../../contract/generated/events.ts';
import type { EventRecord } from '../event.ts';
import { requestFaults, scanFaults } from './scan-form.ts';
import type { AskedScan } from './take-scans.ts';
import type { Tickets } from './tickets.ts';

type Schemas = components['schemas'];

/** What a text at the door stands for, before anybody knows whether the registration exists. */
type ScannedText =
  | { readonly by: 'ticket'; readonly attendeeId: string; readonly ticketId: string }
  | {
      readonly by: 'attendeeId';
      /** User IDs that the text may be, the exact text first. */
      readonly ids: readonly string[];
      /** Whether the text came in `items`, which take user IDs only for older events. */
      readonly isItem: boolean;
    }
  | { readonly by: null };

/** A scan of a request, before anybody knows whether the registration exists. */
export type Scanned = Pick<AskedScan, 'kind' | 'stamp' | 'gate' | 'undoes'> & { readonly named: ScannedText };

const nobody: ScannedText = { by: null };
const entryNow = { kind: 'entry', stamp: undefined, gate: null, undoes: null } as const;

/**
 * Reads the scans of a check-in, in the order of the request.
 * @throws ProblemError `input_invalid` for faults of form
 */
export async function readScans(
  body: Schemas['CheckInRequest'],
  eventId: string,
  tickets: Pick<Tickets, 'read'>,
): Promise<Scanned[]> {
  const { items, scans = [] } = body;
  const faults = [...requestFaults(body), ...scans.flatMap(scanFaults)];
  if (faults.length > 0) throw inputInvalid(faults);
  const ofTicket = async (text: string, at?: Date): Promise<ScannedText> => {
    const ticket = await tickets.read(text, eventId, at);
    return ticket === undefined ? nobody : { by: 'ticket', ...ticket };
  };
  const ofItem = async (text: string): Promise<Scanned> => {
    const named = await ofTicket(text);
    return { ...entryNow, named: named.by === null ? ofId(text, true) : named };
  };
  const ofScan = async (scan: Schemas['CheckInScan']): Promise<Scanned> => {
    const { ticket, attendeeId, kind = 'entry', gate, undoes } = scan;
    const stamp = stampOf(scan);
    const named =
      ticket !== undefined
        ? await ofTicket(ticket, stamp?.at)
        : attendeeId === undefined
          ? nobody
          : ofId(attendeeId, false);
    return { kind, stamp, gate: gate?.trim() ?? null, undoes: undoes?.toLowerCase() ?? null, named };
  };
  return Promise.all(items === undefined ? scans.map(ofScan) : items.map(ofItem));
}

function stampOf({ scanId, at = '' }: Schemas['CheckInScan']): Scanned['stamp'] {
  const time = parseIsoDate(at);
  return scanId === undefined || time === undefined ? undefined : { scanId: scanId.toLowerCase(), at: time };
}

const ofId = (text: string, isItem: boolean): ScannedText => ({
  by: 'attendeeId',
  ids: [...new Set([text, text.trim()])],
  isItem,
});

/** The user IDs that a text may stand for. */
export function idsOf({ named }: Scanned): readonly string[] {
  if (named.by === null) return [];
  return named.by === 'ticket' ? [named.attendeeId] : named.ids;
}

/** Whether an event admits by what a text is. An undo needs no text. */
export const mayAdmit = (
  { ticketsOnly, idsInItems }: Pick<EventRecord, 'ticketsOnly' | 'idsInItems'>,
  { kind, named }: Scanned,
): boolean =>
  kind === 'undo' ||
  named.by === 'ticket' ||
  (named.by === 'attendeeId' && !ticketsOnly && (idsInItems || !named.isItem));
