import { randomUUID } from 'node:crypto';
import type { components } from '../../contract/generated/events.ts';
import type { CompanyContext } from '../../contract/operation.ts';
import type { Tx } from '../../contract/transaction.ts';
import { inRounds, type Lacks } from '../../db/connection/rounds.ts';
import type { HoldingsReader } from '../eligibility/holdings.ts';
import { changesTooOften } from '../eligibility/read-network.ts';
import type { EventRecord } from '../event.ts';
import { existing } from '../event-rules.ts';
import { lockEventForScans } from '../event-store.ts';
import { lockRegistrations, type Registration, storeAdmissions } from './checkin-store.ts';
import { findIneligible, nothingRead, type Reading, type Rechecks } from './recheck.ts';
import type { ReadBook } from './scan-book.ts';
import { attachUndos, findScannedUsers, insertScans, readBook } from './scan-store.ts';
import { idsOf, mayAdmit, type Scanned } from './scans.ts';
import { type AskedScan, type Outcome, type Taken, takeScans } from './take-scans.ts';

type CheckedIn = components['schemas']['CheckedIn'];
type Registrations = ReadonlyMap<string, Registration>;

type Request = {
  readonly eventId: string;
  readonly scans: readonly Scanned[];
  /** The field of the request that has them. */
  readonly field: '/items' | '/scans';
  /** How many seconds the clock of the scanner is ahead; null where that is unknown. */
  readonly clockSkew: number | null;
};

type Reply = { readonly status: 200; readonly body: components['schemas']['CheckInResult'] };

/**
 * Takes the scans of a request in one transaction. It locks the event first and then the registrations in the order of their users. So
 * requests wait for each other, and never both.
 */
export function checkIn(
  holdings: HoldingsReader,
  { eventId, scans, field, clockSkew }: Request,
  { companyId, once, origin }: CompanyContext,
): Promise<Reply> {
  const undone = scans.flatMap(({ undoes }) => undoes ?? []);
  const hasUndos = undone.length > 0;
  const scanIds = [...scans.flatMap(({ stamp }) => stamp?.scanId ?? []), ...undone];
  const attempt = (reading: Reading | undefined, lacks: Lacks<Reading>): Promise<Reply> =>
    once(async (tx) => {
      const event = existing(await lockEventForScans(tx, companyId, eventId, hasUndos));
      const key = { companyId, eventId: event.id };
      const users = [...scans.flatMap(idsOf), ...(await findScannedUsers(tx, event.id, undone))];
      const registrations = await lockRegistrations(tx, key, [...new Set(users)]);
      const attendeeIds = [...registrations.keys()];
      const book = await readBook(tx, event.id, { attendeeIds, scanIds, hasUndos });
      const asked = scans.map((scan) => askedOf(event, scan, registrations));
      const rechecks = { holdings, reading, lacks, field };
      const taken = await takeChecked(tx, { event, book, asked, registrations, rechecks });
      if (!(await insertScans(tx, event.id, taken.added))) throw lacks(async () => reading ?? nothingRead);
      await attachUndos(tx, event.id, taken.attached);
      const { admitted, corrected } = changesOf(registrations, taken);
      await storeAdmissions(tx, key, admitted, { action: 'attendee.checkin', origin });
      await storeAdmissions(tx, key, corrected, { action: 'attendee.checkin_corrected', origin });
      const items = taken.outcomes.map((outcome, index) =>
        resultOf(outcome, scans[index], registrations, taken),
      );
      return { status: 200, body: { items, clockSkew } } as const;
    });
  return inRounds(attempt, changesTooOften);
}

/** A scan with the registration that it stands for, if there is one. */
function askedOf(event: EventRecord, scanned: Scanned, registrations: Registrations): AskedScan {
  const { named, ...scan } = scanned;
  const found = idsOf(scanned).flatMap((id) => registrations.get(id) ?? []);
  const registration = found.find(({ ticketId }) => named.by !== 'ticket' || named.ticketId === ticketId);
  return { ...scan, attendeeId: registration?.attendeeId, isAdmissible: mayAdmit(event, scanned) };
}

type Asked = {
  readonly event: EventRecord;
  readonly book: ReadBook;
  readonly asked: readonly AskedScan[];
  readonly registrations: Registrations;
  readonly rechecks: Rechecks;
};

/** Decides about scans. Wallets of attendees whom a new scan would admit are read again where the event asks for that. */
async function takeChecked(tx: Tx, { event, book, asked, registrations, rechecks }: Asked): Promise<Taken> {
  const unchecked = takeScans(book, asked, { newId: randomUUID, verdictOf: () => null });
  const admitting = unchecked.added.flatMap(({ scanId, kind, attendeeId }) =>
    kind === 'entry' &&
    attendeeId !== null &&
    unchecked.presenceOf(attendeeId).statuses.get(scanId) === 'admitted'
      ? [attendeeId]
      : [],
  );
  const checked = [...new Set(admitting)].flatMap((id) => registrations.get(id) ?? []);
  const ineligible = await findIneligible(tx, event, checked, rechecks);
  if (ineligible === undefined) return unchecked;
  const verdicts = new Map(
    checked.map(({ attendeeId, ticketId, wallet }) => [
      attendeeId,
      wallet === null ? null : !ineligible.has(ticketId),
    ]),
  );
  const verdictOf = (attendeeId: string) => verdicts.get(attendeeId) ?? null;
  return takeScans(book, asked, { newId: randomUUID, verdictOf });
}

function changesOf(registrations: Registrations, { presenceOf }: Taken) {
  const changes = [...registrations.values()].map(({ attendeeId, checkedInAt: before }) => ({
    attendeeId,
    before,
    checkedInAt: presenceOf(attendeeId).firstEntry?.at ?? null,
  }));
  const changed = changes.filter(({ before, checkedInAt }) => before?.getTime() !== checkedInAt?.getTime());
  return {
    admitted: changed.filter(({ before }) => before === null),
    corrected: changed.filter(({ before }) => before !== null),
  };
}

const nobody = {
  attendeeId: null,
  by: null,
  checkedInAt: null,
  checkedInGate: null,
  label: null,
  inside: null,
} as const;

function resultOf(
  { attendeeId, status, scanId }: Outcome,
  scanned: Scanned | undefined,
  registrations: Registrations,
  { presenceOf }: Taken,
): CheckedIn {
  const registration = registrations.get(attendeeId ?? '');
  if (registration === undefined) return { ...nobody, status, scanId };
  const { firstEntry, isInside } = presenceOf(registration.attendeeId);
  return {
    attendeeId: registration.attendeeId,
    by: scanned?.named.by ?? null,
    status,
    scanId,
    checkedInAt: firstEntry?.at.toISOString() ?? null,
    checkedInGate: firstEntry?.gate ?? null,
    label: registration.label,
    inside: isInside,
  };
}
