import { foldPassages, type PassageStatus, type Presence } from './fold.ts';
import { type KeptScan, type ReadBook, ScanBook } from './scan-book.ts';

/** A scan of a request. */
export type AskedScan = {
  readonly kind: KeptScan['kind'];
  /** Undefined for a scan that means now. */
  readonly stamp: { readonly scanId: string; readonly at: Date } | undefined;
  readonly gate: string | null;
  readonly undoes: string | null;
  /** The registered user whom the scan stands for, if there is one; undefined of an undo. */
  readonly attendeeId: string | undefined;
  /** Whether the event admits by such a text. */
  readonly isAdmissible: boolean;
};

type ScanStatus =
  | PassageStatus
  | 'unknown'
  | 'ticket_required'
  | 'undo_of_undo'
  | 'scan_id_reused'
  | 'at_out_of_range'
  | 'too_many_scans';

type Rules = {
  readonly newId: () => string;
  /** The verdict of `recheckAtCheckin` about new entries of a user; null where nobody asked for it. */
  readonly verdictOf: (attendeeId: string) => boolean | null;
};

/** What became of a scan of a request. `scanId` is null for a scan that means now and is not kept. */
export type Outcome = {
  readonly status: ScanStatus;
  readonly scanId: string | null;
  readonly attendeeId: string | null;
};

export type Taken = {
  /** In the order of the request. */
  readonly outcomes: Outcome[];
  /** Scans to keep. */
  readonly added: readonly KeptScan[];
  /** Undos that were there before their scan, which is now added. */
  readonly attached: { readonly scanId: string; readonly attendeeId: string }[];
  readonly presenceOf: (attendeeId: string) => Presence;
};

/** A scan that is kept, or why it is not. */
type Placed = KeptScan | ScanStatus;

const mostAgeMs = 7 * 86_400_000;
const mostAheadMs = 60_000;

/**
 * Decides about the scans of a request. Each status is that after the whole request. Scans with a time come first, then undos: a scan that
 * means now finds out whether the attendee is inside then, and is kept only where it admits.
 */
export function takeScans(read: ReadBook, asked: readonly AskedScan[], rules: Rules): Taken {
  const book = new ScanBook(read);
  const placed = new Map<AskedScan, Placed>();
  for (const scan of asked)
    if (scan.kind !== 'undo' && scan.stamp) placed.set(scan, place(book, scan, rules));
  for (const scan of asked) if (scan.kind === 'undo') placed.set(scan, place(book, scan, rules));
  for (const scan of asked) if (!scan.stamp) placed.set(scan, placeNow(book, scan, rules));
  const outcomes = asked.map((scan) => outcomeOf(book, scan, placed.get(scan) ?? 'unknown'));
  const presenceOf = (attendeeId: string) => book.presenceOf(attendeeId);
  return { outcomes, added: book.added, attached: attachedTo(read, book), presenceOf };
}

/** Keeps a scan that has a time. */
function place(
  book: ScanBook,
  { stamp, attendeeId: named, isAdmissible, ...scan }: AskedScan,
  { verdictOf }: Rules,
): Placed {
  if (stamp === undefined || (named === undefined && scan.kind !== 'undo')) return 'unknown';
  const known = book.find(stamp.scanId);
  if (known !== undefined) return isSame(known, { ...scan, ...stamp, named }) ? known : 'scan_id_reused';
  if (!isAdmissible) return 'ticket_required';
  const ageMs = book.now.getTime() - stamp.at.getTime();
  if (ageMs > mostAgeMs || ageMs < -mostAheadMs) return 'at_out_of_range';
  const attendeeId = named ?? userOfUndone(book, scan);
  if (book.isFull(attendeeId) || (scan.undoes !== null && book.isUndoneOften(scan.undoes)))
    return 'too_many_scans';
  const isEligible = scan.kind === 'entry' && named !== undefined ? verdictOf(named) : null;
  return book.add({ ...scan, ...stamp, attendeeId, isEligible });
}

type Content = Pick<KeptScan, 'kind' | 'at' | 'gate' | 'undoes'> & { readonly named: string | undefined };

/** Whether a scan was sent before with the same content. An undo names no attendee. */
const isSame = (known: KeptScan, { kind, at, gate, undoes, named }: Content): boolean =>
  known.kind === kind &&
  known.at.getTime() === at.getTime() &&
  known.gate === gate &&
  known.undoes === undoes &&
  (kind === 'undo' || known.attendeeId === named);

/** Decides about a scan that means now. */
function placeNow(
  book: ScanBook,
  { attendeeId, isAdmissible, gate }: AskedScan,
  { verdictOf, newId }: Rules,
): Placed {
  if (attendeeId === undefined) return 'unknown';
  if (!isAdmissible) return 'ticket_required';
  if (book.presenceOf(attendeeId).isInside) return 'already_admitted';
  const isEligible = verdictOf(attendeeId);
  if (isEligible === false) return 'no_longer_eligible';
  const entry = { scanId: newId(), kind: 'entry', at: book.now, gate, isEligible } as const;
  const { statuses } = foldPassages([...book.passagesOf(attendeeId), { ...entry, isUndone: false }]);
  if (statuses.get(entry.scanId) !== 'admitted') return 'already_admitted';
  if (book.isFull(attendeeId)) return 'too_many_scans';
  return book.add({ ...entry, attendeeId, undoes: null });
}

function outcomeOf(book: ScanBook, { attendeeId: named, stamp }: AskedScan, placed: Placed): Outcome {
  if (typeof placed === 'string')
    return { status: placed, scanId: stamp?.scanId ?? null, attendeeId: named ?? null };
  const { scanId, kind, attendeeId } = placed;
  if (kind === 'undo') {
    const status = book.targetOf(placed)?.kind === 'undo' ? 'undo_of_undo' : 'undone';
    return { status, scanId, attendeeId: userOfUndone(book, placed) };
  }
  const status = attendeeId === null ? undefined : book.presenceOf(attendeeId).statuses.get(scanId);
  return { status: status ?? 'unknown', scanId, attendeeId };
}

/** The user whose scan an undo takes back. An undo takes no undo back. */
function userOfUndone(book: ScanBook, undo: Pick<KeptScan, 'undoes'>): string | null {
  const target = book.targetOf(undo);
  return target === undefined || target.kind === 'undo' ? null : target.attendeeId;
}

function attachedTo({ scans }: ReadBook, { added }: ScanBook): Taken['attached'] {
  const passages = new Map(added.filter(({ kind }) => kind !== 'undo').map((scan) => [scan.scanId, scan]));
  return scans.flatMap(({ scanId, undoes }) => {
    const attendeeId = passages.get(undoes ?? '')?.attendeeId ?? null;
    return attendeeId === null ? [] : [{ scanId, attendeeId }];
  });
}
