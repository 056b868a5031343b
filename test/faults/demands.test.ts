import { describe, expect, test } from 'vitest';
import { type Found, violationsOf } from '../../scripts/faults/service/demands.ts';
import { brokenOff, judge, worseOf } from '../../scripts/faults/service/verdict.ts';
import type { Answer } from '../../scripts/load/answers.ts';
import { violationsOf as soakViolationsOf } from '../../scripts/soak/demands.ts';
import type { Sample } from '../../scripts/soak/samples.ts';

const answer = (changed: Partial<Answer> = {}): Answer => ({
  ...{ at: 10, ms: 20, company: 'globex', kind: 'get event', class: 'ok', detail: '200' },
  ...changed,
});
const figures = { memoryMb: 180, descriptors: 40 };
const held: Found = {
  fault: { name: 'a fault', about: '', seconds: 1, begin: async () => async () => ({ acted: true }) },
  ...{ answers: [answer()], quiet: [answer({ at: 1 })], faultEndedAt: 100, deadlineMs: 15_000 },
  health: [answer({ company: 'probe', kind: 'healthz' })],
  ...{ recoveredMs: 0, background: { mintMs: 3_000, indexMs: 10 }, aftermath: { acted: true } },
  ...{ unfinished: 0, lost: [], excused: 0, broken: [], unhandled: [], ended: [] },
  ...{ before: figures, peak: figures, after: figures },
};

describe('a fault', () => {
  test('is held when every demand is met', () => {
    expect(violationsOf(held)).toEqual([]);
    expect(violationsOf({ ...held, fault: { ...held.fault, servesAll: true, neighbour: 'globex' } })).toEqual(
      [],
    );
  });

  const unserved = [answer({ class: 'unavailable' })];
  test.for<[string, Partial<Found>]>([
    ['nothing shows that the fault happened', { aftermath: { acted: false } }],
    ['2 of 300 still open', { aftermath: { acted: true, violations: ['2 of 300 still open'] } }],
    ['1 answers that are neither', { answers: [answer({ class: 'wrong' })] }],
    ['1 requests cut off', { answers: [answer({ class: 'cut' })] }],
    ['1 requests without an answer in 15 s', { answers: [answer({ ms: 15_001 })] }],
    ['1 of 1 requests not served', { answers: unserved, fault: { ...held.fault, servesAll: true } }],
    [
      '1 requests of the neighbour not served',
      { answers: unserved, fault: { ...held.fault, neighbour: 'globex' } },
    ],
    [
      'the neighbour waits 5.0 times as long',
      { answers: [answer({ ms: 100 })], fault: { ...held.fault, neighbour: 'globex' } },
    ],
    ['nobody asked for /healthz', { health: [], fault: { ...held.fault, neighbour: 'globex' } }],
    [
      '1 of 2 times /healthz not answered by 200 in 1 s',
      {
        health: [answer(), answer({ ms: 1_001 })],
        fault: { ...held.fault, neighbour: 'globex' },
      },
    ],
    [
      '2 of 2 times /healthz not answered by 200 in 1 s',
      {
        health: [answer({ class: 'unavailable' }), answer({ class: 'cut' })],
        fault: { ...held.fault, neighbour: 'globex' },
      },
    ],
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

  test('of a neighbour tells how probes were answered meanwhile', () => {
    const health = [answer({ ms: 3 }), answer({ ms: 40.4 })];
    const outcome = judge({ ...held, health, fault: { ...held.fault, neighbour: 'globex' } });
    expect(outcome.health).toEqual({ asked: 2, p99Ms: 40, longestMs: 40, failed: 0 });
    expect(outcome.note).toContain('p99 of /healthz 40 ms, longest 40 ms');
    expect(judge({ ...held, health: [] }).health).toBeUndefined();
  });

  test('is told of as in its worst round', () => {
    const broken = brokenOff(held.fault, new Error('gone'));
    expect(worseOf(broken, judge(held))).toBe(broken);
    expect(worseOf(judge(held), broken)).toBe(broken);
  });
});

type Soak = Parameters<typeof soakViolationsOf>[0];

describe('a soak', () => {
  const sample: Sample = { memoryMb: 1, heapMb: 1, descriptors: 1, timers: 1, sockets: 1, listeners: 1 };
  const flat: Soak = {
    ...{ answers: [answer()], processes: ['worker'], growth: [], aftermaths: [] },
    quiet: {
      samples: new Map([['worker', [sample]]]),
      stretches: [[0, 100]],
      looks: 1,
    },
    left: { unfinished: 0, lost: [], excused: 0, broken: [], unhandled: [], ended: [] },
  };

  test('is held when all is served in quiet and every process tells of itself', () => {
    expect(soakViolationsOf(flat)).toEqual([]);
  });

  test.for<[string, Partial<Soak>]>([
    ['1 of 1 not served in quiet', { answers: [answer({ class: 'unavailable' })] }],
    ['nothing was asked in quiet', { answers: [] }],
    ['indexer told of itself 0 times of 1', { processes: ['worker', 'indexer'] }],
    [
      'nothing shows that a flood happened',
      { aftermaths: [{ name: 'a flood', aftermath: { acted: false } }] },
    ],
  ])('is not held: %s', ([words, changed]) => {
    const violations = soakViolationsOf({ ...flat, ...changed });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(words);
  });
});
