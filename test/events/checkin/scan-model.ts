import type { KeptScan } from '../../../src/events/checkin/scan-book.ts';
import type { AskedScan } from '../../../src/events/checkin/take-scans.ts';

type Random = () => number;

/** A scan of a phone, and the user whom it names. */
export type Sent = {
  readonly scanId: string;
  readonly kind: KeptScan['kind'];
  readonly at: Date;
  readonly gate: string | null;
  readonly attendeeId: string | undefined;
  readonly undoes: string | null;
};

/** What the door must know of a user. */
export type Known = {
  readonly checkedInAt: string | null;
  readonly gate: string | null;
  readonly inside: boolean;
  readonly statuses: Readonly<Record<string, string>>;
};

const phones = [
  { gate: 'North', skewMs: 0 },
  { gate: 'North', skewMs: -40_000 },
  { gate: 'South', skewMs: 25_000 },
  { gate: 'South', skewMs: -5 * 3_600_000 },
  { gate: null, skewMs: 500 },
] as const;

const uuidOf = (random: Random): string => {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** Makes what five phones with wrong clocks scanned in a day: entries, exits, undos, and undos of undos. */
export function makeScans(random: Random, count: number, users: readonly string[], now: Date): Sent[] {
  const made: Sent[] = [];
  while (made.length < count) {
    const phone = phones[Math.floor(random() * phones.length)] ?? phones[0];
    // In whole seconds, so that scans have the same time now and then.
    const at = new Date(now.getTime() - 60_000 - Math.floor(random() * 3_600) * 1_000 + phone.skewMs);
    const scan = { scanId: uuidOf(random), at, gate: phone.gate };
    const kind = random();
    const target = made[Math.floor(random() * made.length)];
    if (kind < 0.2 && target !== undefined)
      made.push({ ...scan, kind: 'undo', attendeeId: undefined, undoes: target.scanId });
    else {
      const attendeeId = users[Math.floor(random() * users.length)] ?? '';
      made.push({ ...scan, kind: kind < 0.65 ? 'entry' : 'exit', attendeeId, undoes: null });
    }
  }
  return made;
}

/** What all scans come to for a user: each scan is judged by itself, by the last valid scan before it. */
export function modelOf(scans: readonly Sent[], user: string, isEligible: (user: string) => boolean): Known {
  const own = scans.filter(({ attendeeId }) => attendeeId === user);
  const isUndone = ({ scanId }: Sent) => scans.some(({ undoes }) => undoes === scanId);
  const isValid = (scan: Sent) => !isUndone(scan) && (scan.kind === 'exit' || isEligible(user));
  const isBefore = (one: Sent, other: Sent) =>
    one.at < other.at || (one.at.getTime() === other.at.getTime() && one.scanId < other.scanId);
  const lastOf = (some: readonly Sent[]) => some.find((one) => some.every((other) => !isBefore(one, other)));
  const statusOf = (scan: Sent) => {
    if (isUndone(scan)) return 'undone';
    if (!isValid(scan)) return 'no_longer_eligible';
    const isInside = lastOf(own.filter((other) => isValid(other) && isBefore(other, scan)))?.kind === 'entry';
    if (scan.kind === 'entry') return isInside ? 'already_admitted' : 'admitted';
    return isInside ? 'exited' : 'not_inside';
  };
  const entries = own.filter((scan) => scan.kind === 'entry' && isValid(scan));
  const first = entries.find((one) => entries.every((other) => !isBefore(other, one)));
  return {
    checkedInAt: first?.at.toISOString() ?? null,
    gate: first?.gate ?? null,
    inside: lastOf(own.filter(isValid))?.kind === 'entry',
    statuses: Object.fromEntries(
      own
        .map((scan) => [scan.scanId, statusOf(scan)])
        .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)),
    ),
  };
}

/** A random order of scans with repeats, cut into uploads. */
export function uploadsOf(random: Random, scans: readonly Sent[], repeats: number): Sent[][] {
  const again = Array.from({ length: repeats }, () => scans[Math.floor(random() * scans.length)]);
  const all = [...scans, ...again].flatMap((scan) => scan ?? []);
  for (let left = all.length; left > 1; left -= 1) {
    const other = Math.floor(random() * left);
    const [one, two] = [all[left - 1], all[other]];
    if (one !== undefined && two !== undefined) [all[left - 1], all[other]] = [two, one];
  }
  const uploads: Sent[][] = [];
  while (all.length > 0) uploads.push(all.splice(0, 1 + Math.floor(random() * 120)));
  return uploads;
}

/** A scan as the handler reads it. */
export const askedOf = ({ scanId, at, ...scan }: Sent): AskedScan => ({
  ...scan,
  stamp: { scanId, at },
  isAdmissible: true,
});
