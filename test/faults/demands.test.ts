import { describe, expect, test } from 'vitest';
import { type Found, violationsOf } from '../../scripts/faults/service/demands.ts';
import { growthViolations, type Sample } from '../../scripts/faults/service/growth.ts';
import { brokenOff, judge, worseOf } from '../../scripts/faults/service/outcome.ts';
import type { Answer } from '../../scripts/load/answers.ts';

const answer = (changed: Partial<Answer> = {}): Answer => ({
  at: 10,
  ms: 20,
  company: 'globex',
  kind: 'get event',
  class: 'ok',
  detail: '200',
  ...changed,
});
const figures = { memoryMb: 180, descriptors: 40 };
const held: Found = {
  fault: { name: 'a fault', about: '', seconds: 1, begin: async () => async () => ({ acted: true }) },
  answers: [answer()],
  quiet: [answer({ at: 1 })],
  recoveredMs: 0,
  background: { mintMs: 3_000, indexMs: 10 },
  aftermath: { acted: true },
  unfinished: 0,
  lost: [],
  excused: 0,
  broken: [],
  unhandled: [],
  ended: [],
  before: figures,
  peak: figures,
  after: figures,
};
const beside: Found = {
  ...held,
  fault: { ...held.fault, neighbour: 'globex' },
  aftermath: { acted: true, parts: [{ name: 'a flood', from: 0, to: 50 }] },
};

describe('a fault', () => {
  test('is held when every demand is met', () => {
    expect(violationsOf(held)).toEqual([]);
    expect(violationsOf({ ...beside, fault: { ...beside.fault, servesAll: true } })).toEqual([]);
  });

  const unserved = [answer({ class: 'unavailable' })];
  test.for<[string, Partial<Found>]>([
    ['nothing shows that the fault happened', { aftermath: { acted: false } }],
    ['2 of 300 still open', { aftermath: { acted: true, violations: ['2 of 300 still open'] } }],
    ['1 answers that are neither', { answers: [answer({ class: 'wrong' })] }],
    ['1 requests cut off', { answers: [answer({ class: 'cut' })] }],
    ['1 requests without an answer in 18 s', { answers: [answer({ ms: 18_001 })] }],
    ['1 of 1 requests not served', { answers: unserved, fault: { ...held.fault, servesAll: true } }],
    ['1 of 1 requests not served before', { quiet: unserved }],
    ['nothing was asked before', { quiet: [] }],
    ['a flood: 1 of 1 requests of the neighbour not served', { ...beside, answers: unserved }],
    ['a flood: the neighbour waits 5.0 times as long', { ...beside, answers: [answer({ ms: 100 })] }],
    ['a flood: the neighbour asked for nothing', { ...beside, answers: [answer({ at: 60 })] }],
    ['not recovered without a restart', { recoveredMs: undefined }],
    ['recovered after 16 s', { recoveredMs: 16_000 }],
    ['a mint afterwards is never minted', { background: { mintMs: undefined, indexMs: 0 } }],
    ['a mint afterwards is minted after 16 s', { background: { mintMs: 16_000, indexMs: 0 } }],
    ['the index does not go on', { background: { mintMs: 0, indexMs: undefined } }],
    ['the index is at the head after 46 s', { background: { mintMs: 0, indexMs: 46_000 } }],
    ['1 accepted mints stand still', { unfinished: 1 }],
    ['memory at its peak 180 to 600 MB', { peak: { ...figures, memoryMb: 600 } }],
    ['memory 180 to 440 MB', { after: { ...figures, memoryMb: 440 } }],
    ['ended: worker', { ended: ['worker: SIGKILL'] }],
  ])('is not held: %s', ([words, changed]) => {
    const violations = violationsOf({ ...held, ...changed });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(words);
  });

  test('next to a neighbour reports what it waits in each part', () => {
    expect(judge(beside).note).toBe('p99 of the neighbour 20 ms in quiet; a flood 20');
  });

  test('is reported as in its worst round', () => {
    const broken = brokenOff(held.fault, new Error('gone'));
    expect(worseOf(broken, judge(held))).toBe(broken);
    expect(worseOf(judge(held), broken)).toBe(broken);
  });
});

describe('a soak', () => {
  const sample: Sample = { memoryMb: 100, heapMb: 50, descriptors: 30, timers: 5, sockets: 9 };

  test('is held while nothing grows and every process answers', () => {
    expect(growthViolations(new Map([['worker', [sample, sample, undefined, sample]]]))).toEqual([]);
  });

  test.for<[string, (Sample | undefined)[]]>([
    ['indexer answered 1 of 2 scrapes', [sample, undefined]],
    ['memoryMb of indexer grows: 100 to 131, where 130 is the most', [sample, { ...sample, memoryMb: 131 }]],
    ['timers of indexer grows: 5 to 29, where 28 is the most', [sample, { ...sample, timers: 29 }]],
  ])('is not held: %s', ([words, samples]) => {
    expect(growthViolations(new Map([['indexer', samples]]))).toEqual([words]);
  });
});
