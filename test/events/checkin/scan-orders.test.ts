import { expect, test } from 'vitest';
import type { KeptScan } from '../../../src/events/checkin/scan-book.ts';
import { takeScans } from '../../../src/events/checkin/take-scans.ts';
import { createRandom } from '../../minting/chance.ts';
import { askedOf, type Known, makeScans, modelOf, type Sent, uploadsOf } from './scan-model.ts';

const now = new Date('2027-05-04T12:00:00.000Z');
const users = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gus', 'hal'];
const isEligible = (user: string) => user !== 'hal';
const rules = { newId: () => crypto.randomUUID(), verdictOf: isEligible };

/** Takes uploads one after the other, as the tables keep them, and returns what the door knows in the end. */
function takeAll(uploads: readonly (readonly Sent[])[]) {
  const kept = new Map<string, KeptScan>();
  const book = () => {
    const scans = [...kept.values()];
    return { now, scans, undosOfNobody: scans.filter(({ attendeeId }) => attendeeId === null).length };
  };
  for (const upload of uploads) {
    const { added, attached, outcomes } = takeScans(book(), upload.map(askedOf), rules);
    for (const scan of added) kept.set(scan.scanId, scan);
    for (const { scanId, attendeeId } of attached) {
      const undo = kept.get(scanId);
      if (undo !== undefined) kept.set(scanId, { ...undo, attendeeId });
    }
    if (outcomes.some(({ scanId }) => scanId === null)) throw new Error('a scan with a time lost its id');
  }
  const { presenceOf } = takeScans(book(), [], rules);
  const rows = [...kept.values()].toSorted((one, other) => (one.scanId < other.scanId ? -1 : 1));
  return { rows, known: Object.fromEntries(users.map((user) => [user, knownOf(presenceOf(user))])) };
}

function knownOf({
  firstEntry,
  isInside,
  statuses,
}: ReturnType<ReturnType<typeof takeScans>['presenceOf']>): Known {
  return {
    checkedInAt: firstEntry?.at.toISOString() ?? null,
    gate: firstEntry?.gate ?? null,
    inside: isInside,
    statuses: Object.fromEntries([...statuses].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}

test('200 scans of five phones come to the state of the model in 10,000 random orders with repeats', () => {
  const random = createRandom(57);
  const statuses = new Set<string>();
  for (let day = 0; day < 100; day += 1) {
    const scans = makeScans(random, 200, users, now);
    const model = Object.fromEntries(users.map((user) => [user, modelOf(scans, user, isEligible)]));
    for (const { statuses: all } of Object.values(model))
      for (const each of Object.values(all)) statuses.add(each);
    const { rows, known } = takeAll([scans]);
    expect(known).toEqual(model);
    const expected = JSON.stringify([rows, known]);
    for (let order = 0; order < 100; order += 1) {
      const end = takeAll(uploadsOf(random, scans, 40));
      if (JSON.stringify([end.rows, end.known]) !== expected)
        expect([day, order, end]).toEqual([day, order, { rows, known }]);
    }
  }
  // Nothing that can happen was left out.
  expect([...statuses].toSorted()).toEqual([
    ...['admitted', 'already_admitted', 'exited', 'no_longer_eligible', 'not_inside', 'undone'],
  ]);
});
