import { describe, expect, test } from 'vitest';
import {
  type KeptScan,
  mostOfNobody,
  mostOfRegistration,
  mostUndosOfScan,
} from '../../../src/events/checkin/scan-book.ts';
import { type AskedScan, takeScans } from '../../../src/events/checkin/take-scans.ts';

const now = new Date('2027-05-04T12:00:00.000Z');
const rules = { newId: () => crypto.randomUUID(), verdictOf: (user: string) => user !== 'hal' };
const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const minutes = (count: number) => new Date(now.getTime() + count * 60_000);
const scan = (last: number, at: Date, more: Partial<AskedScan> = {}): AskedScan => ({
  kind: 'entry',
  stamp: { scanId: id(last), at },
  gate: null,
  undoes: null,
  attendeeId: more.kind === 'undo' ? undefined : 'ann',
  isAdmissible: true,
  ...more,
});
const undo = (last: number, at: Date, target: number): AskedScan =>
  scan(last, at, { kind: 'undo', undoes: id(target) });
const here: AskedScan = { ...scan(0, now), stamp: undefined };
const statusesOf = (asked: AskedScan[], scans: readonly KeptScan[] = [], undosOfNobody = 0) =>
  takeScans({ now, scans, undosOfNobody }, asked, rules).outcomes.map(({ status }) => status);
const keptOf = (...asked: AskedScan[]) => takeScans({ now, scans: [], undosOfNobody: 0 }, asked, rules).added;

describe('a scan', () => {
  test('has a time of the last seven days, or of the next minute', () => {
    const times = [-7 * 24 * 60, -7 * 24 * 60 - 0.001, 1, 1.001].map(minutes);
    expect(statusesOf(times.map((at, index) => scan(index, at)))).toEqual([
      ...['admitted', 'at_out_of_range', 'already_admitted', 'at_out_of_range'],
    ]);
  });

  test('that was kept is found again, however old it is by now', () => {
    const [kept] = keptOf(scan(1, minutes(-1)));
    const later = { now: minutes(10 * 24 * 60), scans: kept === undefined ? [] : [kept], undosOfNobody: 0 };
    const { outcomes, added } = takeScans(later, [scan(1, minutes(-1))], rules);
    expect([outcomes.map(({ status }) => status), added]).toEqual([['admitted'], []]);
  });

  test('with the id of another one is scan_id_reused, whatever differs', () => {
    const first = scan(1, minutes(-1), { gate: 'North' });
    const others: AskedScan[] = [
      scan(1, minutes(-2), { gate: 'North' }),
      scan(1, minutes(-1), { gate: 'South' }),
      scan(1, minutes(-1), { gate: 'North', kind: 'exit' }),
      scan(1, minutes(-1), { gate: 'North', attendeeId: 'bob' }),
      { ...undo(1, minutes(-1), 2), gate: 'North' },
    ];
    expect(statusesOf([first, ...others, { ...first }])).toEqual([
      'admitted',
      ...others.map(() => 'scan_id_reused'),
      'admitted',
    ]);
  });

  test('by what does not admit, or of nobody, is not kept', () => {
    const asked = [scan(1, now, { isAdmissible: false }), scan(2, now, { attendeeId: undefined })];
    expect(statusesOf(asked)).toEqual(['ticket_required', 'unknown']);
    expect(keptOf(...asked)).toEqual([]);
  });

  test('beyond the most of a registration is too_many_scans, and one that was kept is not', () => {
    const all = Array.from({ length: mostOfRegistration }, (_, index) => scan(index, minutes(-1)));
    const kept = keptOf(...all);
    const asked = [scan(999, now), scan(0, minutes(-1)), undo(998, now, 1), undo(997, now, 996)];
    expect(statusesOf(asked, kept)).toEqual(['too_many_scans', 'admitted', 'too_many_scans', 'undone']);
  });
});

describe('an undo', () => {
  test('of a scan that many have taken back is too_many_scans, whether the scan is there or not', () => {
    const undos = Array.from({ length: mostUndosOfScan + 1 }, (_, index) => undo(100 + index, now, 1));
    const expected = [...Array(mostUndosOfScan).fill('undone'), 'too_many_scans'];
    expect(statusesOf(undos)).toEqual(expected);
    expect(statusesOf(undos, keptOf(scan(1, minutes(-1))))).toEqual(expected);
    expect(statusesOf(undos.slice(-1), keptOf(...undos))).toEqual(['too_many_scans']);
  });

  test('that came before its scan counts for the registration, so that no order keeps more scans', () => {
    const targets = Array.from({ length: mostOfRegistration }, (_, index) => index);
    const waiting = keptOf(...targets.map((target) => undo(1_000 + target, now, target)));
    const { added, attached } = takeScans(
      { now, scans: waiting, undosOfNobody: waiting.length },
      targets.map((target) => scan(target, minutes(-1))),
      rules,
    );
    expect([added.length, attached.length]).toEqual([mostOfRegistration / 2, mostOfRegistration / 2]);
  });

  test('takes a scan back in the same request, before it, and after it', () => {
    expect(statusesOf([undo(2, now, 1), scan(1, minutes(-1))])).toEqual(['undone', 'undone']);
    const early = keptOf(undo(2, now, 1));
    expect(early).toMatchObject([{ attendeeId: null }]);
    const taken = takeScans({ now, scans: early, undosOfNobody: 1 }, [scan(1, minutes(-1))], rules);
    expect(taken.outcomes).toEqual([{ status: 'undone', scanId: id(1), attendeeId: 'ann' }]);
    expect(taken.attached).toEqual([{ scanId: id(2), attendeeId: 'ann' }]);
    expect(statusesOf([undo(2, now, 1)], keptOf(scan(1, minutes(-1))))).toEqual(['undone']);
  });

  test('of an undo changes nothing', () => {
    const asked = [scan(1, minutes(-3)), undo(2, minutes(-2), 1), undo(3, minutes(-1), 2), undo(4, now, 4)];
    expect(statusesOf(asked)).toEqual(['undone', 'undone', 'undo_of_undo', 'undo_of_undo']);
  });

  test('beyond the most undos without their scan is too_many_scans', () => {
    expect(statusesOf([undo(2, now, 1), undo(4, now, 3)], [], mostOfNobody - 1)).toEqual([
      'undone',
      'too_many_scans',
    ]);
    expect(statusesOf([scan(1, now), undo(2, now, 1)], [], mostOfNobody)).toEqual(['undone', 'undone']);
  });
});

describe('a scan that means now', () => {
  test('admits once, and is kept only where it admits', () => {
    const asked = [here, { ...here }, { ...here, attendeeId: 'hal' }];
    expect(statusesOf(asked)).toEqual(['admitted', 'already_admitted', 'no_longer_eligible']);
    expect(keptOf(...asked)).toMatchObject([{ attendeeId: 'ann', at: now, kind: 'entry' }]);
  });

  test('admits again after an exit, and after an undo', () => {
    expect(statusesOf([here, scan(1, minutes(-2)), scan(2, minutes(-1), { kind: 'exit' })])).toEqual([
      ...['admitted', 'admitted', 'exited'],
    ]);
    expect(statusesOf([here], keptOf(scan(1, minutes(-1)), undo(2, now, 1)))).toEqual(['admitted']);
  });

  test('does not admit a second time between an entry and an exit of a clock that is ahead', () => {
    const kept = keptOf(scan(1, minutes(-1)), scan(2, minutes(0.5), { kind: 'exit' }));
    expect(statusesOf([here], kept)).toEqual(['already_admitted']);
  });
});
