import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Answer, eventId, foldScans, localStatus, type Scan } from './door-modules.ts';

const scan = (scanId: string, at: number, more: Partial<Scan> = {}): Scan => ({
  scanId,
  eventId,
  kind: 'entry',
  at: new Date(at * 1_000).toISOString(),
  gate: 'North',
  attendeeId: 'user-7421',
  ...more,
});
const answer = (status: string, more: Partial<Answer> = {}): Answer => ({
  status,
  checkedInAt: '2027-05-04T09:00:00.000Z',
  gate: 'South',
  inside: true,
  ...more,
});

describe('the scans of a guest on a phone', () => {
  test('admit once, and again after an exit', () => {
    const entry = scan('a', 1);
    expect(localStatus('entry', foldScans([]))).toBe('admitted');
    expect(foldScans([entry])).toEqual({ isInside: true, first: { at: entry.at, gate: 'North' } });
    expect(localStatus('entry', foldScans([entry]))).toBe('already_admitted');
    expect(localStatus('entry', foldScans([entry, scan('b', 2, { kind: 'exit' })]))).toBe('admitted');
    expect(localStatus('exit', foldScans([]))).toBe('exited');
  });

  test('do not count when they were taken back, in any order', () => {
    const undo = scan('c', 3, { kind: 'undo', undoes: 'a' });
    expect(foldScans([undo, scan('a', 1)])).toEqual({ isInside: false, first: undefined });
    expect(foldScans([undo, scan('a', 1), scan('b', 2)]).isInside).toBe(true);
  });

  test('follow what the service answered, which knows other phones', () => {
    const elsewhere = scan('a', 1, { answer: answer('already_admitted') });
    const first = { at: '2027-05-04T09:00:00.000Z', gate: 'South' };
    expect(foldScans([elsewhere])).toEqual({ isInside: true, first });
    // An undo that the service refused took nothing back.
    const refused = scan('c', 3, { kind: 'undo', undoes: 'b', refused: 'at_out_of_range' });
    expect(foldScans([scan('b', 2), refused]).isInside).toBe(true);
    // Taking the second scan back leaves the entry at the other phone.
    expect(foldScans([elsewhere, scan('b', 2, { kind: 'undo', undoes: 'a' })])).toEqual({
      isInside: true,
      first,
    });
    const left = scan('a', 1, { kind: 'exit', answer: answer('exited', { inside: false }) });
    expect(foldScans([left]).isInside).toBe(false);
  });

  test.each(['unknown', 'no_longer_eligible', 'ticket_required', 'at_out_of_range', 'scan_id_reused'])(
    'do not count where the service answered %s',
    (status) => {
      const none = answer(status, { checkedInAt: null, gate: null, inside: null });
      expect(foldScans([scan('a', 1, { answer: none })])).toEqual({ isInside: false, first: undefined });
      expect(foldScans([scan('a', 1, { refused: 'input_invalid' })]).isInside).toBe(false);
    },
  );

  test('give one state in whatever order they were stored', () => {
    const scans = fc.uniqueArray(
      fc.record({
        scanId: fc.stringMatching(/^[a-f]$/),
        at: fc.integer({ min: 0, max: 3 }),
        kind: fc.constantFrom('entry', 'exit', 'undo'),
        undoes: fc.stringMatching(/^[a-f]$/),
      }),
      { selector: ({ scanId }) => scanId, maxLength: 6 },
    );
    const shuffled = scans.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const made = (list: typeof one) => list.map(({ scanId, at, ...more }) => scan(scanId, at, more));
        expect(foldScans(made(other))).toEqual(foldScans(made(one)));
      }),
    );
  });
});
