import { foldPassages, type Passage, type Presence } from './fold.ts';

/** A scan as it is kept. */
export type KeptScan = {
  /** UUID in lower case. */
  readonly scanId: string;
  readonly kind: 'entry' | 'exit' | 'undo';
  readonly at: Date;
  readonly gate: string | null;
  /** Of an undo, that of the scan that it takes back; null while that scan is not there. */
  readonly attendeeId: string | null;
  readonly undoes: string | null;
  readonly isEligible: boolean | null;
};

/** All scans of the registrations of a request, and all scans with the ids of its scans. */
export type ReadBook = {
  readonly now: Date;
  readonly scans: readonly KeptScan[];
  /** How many undos of the event have no scan. */
  readonly undosOfNobody: number;
};

/** Scans of a registration, undos included. */
export const mostOfRegistration = 200;
/** Undos of one scan: a few phones may take back the same scan. */
export const mostUndosOfScan = 8;
/** Undos of an event whose scan is not there. */
export const mostOfNobody = 10_000;

/** The scans that a request decides by, to which it adds its own. */
export class ScanBook {
  readonly now: Date;
  /** Scans that the request adds. */
  readonly added: KeptScan[] = [];
  readonly #kept = new Map<string, KeptScan>();
  readonly #ofAttendee = new Map<string | null, KeptScan[]>();
  /** By the scan that they take back. */
  readonly #undos = new Map<string, KeptScan[]>();
  readonly #presences = new Map<string, Presence>();
  #undosOfNobody: number;

  constructor({ now, scans, undosOfNobody }: ReadBook) {
    this.now = now;
    this.#undosOfNobody = undosOfNobody;
    for (const scan of scans) this.#enter(scan);
  }

  #enter(scan: KeptScan): void {
    this.#presences.clear();
    this.#kept.set(scan.scanId, scan);
    if (scan.undoes !== null) put(this.#undos, scan.undoes, scan);
    put(this.#ofAttendee, scan.attendeeId, scan);
  }

  /** Adds a scan and returns it. */
  add(scan: KeptScan): KeptScan {
    this.#enter(scan);
    this.added.push(scan);
    // Undos that came before their scan are its attendee's from now on, and count there.
    if (scan.kind !== 'undo')
      for (const undo of this.#undos.get(scan.scanId) ?? []) put(this.#ofAttendee, scan.attendeeId, undo);
    if (scan.attendeeId === null) this.#undosOfNobody += 1;
    return scan;
  }

  find(scanId: string): KeptScan | undefined {
    return this.#kept.get(scanId);
  }

  /** The scan that an undo takes back, if it is there. */
  targetOf({ undoes }: Pick<KeptScan, 'undoes'>): KeptScan | undefined {
    return undoes === null ? undefined : this.#kept.get(undoes);
  }

  passagesOf(attendeeId: string): Passage[] {
    return (this.#ofAttendee.get(attendeeId) ?? []).flatMap(({ kind, ...scan }) =>
      kind === 'undo' ? [] : [{ ...scan, kind, isUndone: this.#undos.has(scan.scanId) }],
    );
  }

  presenceOf(attendeeId: string): Presence {
    const presence = this.#presences.get(attendeeId) ?? foldPassages(this.passagesOf(attendeeId));
    this.#presences.set(attendeeId, presence);
    return presence;
  }

  /** Whether a scan may have no further undo. */
  isUndoneOften(scanId: string): boolean {
    return (this.#undos.get(scanId)?.length ?? 0) >= mostUndosOfScan;
  }

  /** Whether a registration may keep no further scan; of null, whether the event may keep no further undo without its scan. */
  isFull(attendeeId: string | null): boolean {
    if (attendeeId === null) return this.#undosOfNobody >= mostOfNobody;
    return (this.#ofAttendee.get(attendeeId)?.length ?? 0) >= mostOfRegistration;
  }
}

function put<Key>(map: Map<Key, KeptScan[]>, key: Key, scan: KeptScan): void {
  const others = map.get(key);
  if (others === undefined) map.set(key, [scan]);
  else others.push(scan);
}
