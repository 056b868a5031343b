import type { HeadBlock, Sight } from '../transport/node-look.ts';

/**
 * The judgement of a node:
 * - `unknown`: nobody has polled it yet;
 * - `usable`: nothing is wrong;
 * - `standing`: it has shown no new block for long, but no other node has a newer block; it is used and reported;
 * - `lagging`: it has stayed far behind another node for long;
 * - `forked`: its chain lacks a block that was agreed to be final;
 * - `foreign`: it serves another chain;
 * - `failing`: it gives no answer.
 */
export type NodeState = 'unknown' | 'usable' | 'standing' | 'lagging' | 'forked' | 'foreign' | 'failing';

export type NodeJudgement = {
  readonly state: NodeState;
  /** In words; empty for `usable` and `unknown`. */
  readonly reason: string;
};

export const isInUse = (state: NodeState): boolean => state === 'usable' || state === 'standing';

/** The memory of a node between polls, which distinguishes a moment from a lasting state. */
export type Track = {
  /** When and at how many polls in a row it was too far behind the best node. */
  behind: { readonly since: number; readonly looks: number } | undefined;
  /** When its newest block was first seen, and at how many polls since. */
  head:
    | { readonly hash: string; readonly since: number; readonly looks: number; readonly date: Date }
    | undefined;
};

export type NodeSurroundings = {
  /** The highest newest block of the nodes that the node is compared with. */
  readonly best: bigint;
  /** The network's median block interval; undefined while it is unknown. */
  readonly intervalMs: number | undefined;
  /** The monotonic clock. */
  readonly now: number;
  /** The clock of the world, for people. */
  readonly date: Date;
  /** The least time without a new block that means anything, in milliseconds. */
  readonly leastStandingMs: number;
};

/**
 * For how long a node that fails is believed for what it showed last, in milliseconds. Until then the other node does
 * not count as the best there is, though it may stall or be on another chain; after that it is used.
 */
export const graceMs = 5 * 60_000;

// Nodes of a fast network are some blocks apart all the time, so a lag is measured in time too.
const normalBlocks = 3;
const normalMs = 2_000;
const intervalsOfPatience = 5;
const leastPatienceMs = 3_000;
// Of Ethereum. Most others are faster, and the pace is known after two blocks.
const assumedIntervalMs = 12_000;
// An idle lane does not poll: one long interval between two polls proves nothing.
const leastLooks = 3;
const standingIntervals = 20;

/** Judges a node that answered, and keeps track of how long it has been so. */
export function judgeHead(track: Track, head: HeadBlock, around: NodeSurroundings): NodeJudgement {
  follow(track, head, around);
  const behind = around.best - head.number;
  if (track.behind !== undefined && isLong(track.behind, around.now, patienceMs(around))) {
    return { state: 'lagging', reason: `at block ${head.number}, ${behind} behind another node` };
  }
  const limitMs = Math.max(standingIntervals * (around.intervalMs ?? 0), around.leastStandingMs);
  if (track.head !== undefined && behind <= 0n && isLong(track.head, around.now, limitMs)) {
    const since = track.head.date.toISOString();
    return { state: 'standing', reason: `block ${head.number} is its newest since ${since}` };
  }
  return { state: 'usable', reason: '' };
}

/** Judges a node that did not show a chain of this network. */
export function judgeAbsent(sight: Exclude<Sight, { kind: 'seen' }>, chainId: string): NodeJudgement {
  if (sight.kind === 'failed') return { state: 'failing', reason: sight.fault.message };
  return { state: 'foreign', reason: `it serves chain ${sight.servedChainId}, not ${chainId}` };
}

function follow(track: Track, head: HeadBlock, { best, date, intervalMs, now }: NodeSurroundings): void {
  const allowance = BigInt(Math.max(normalBlocks, Math.ceil(normalMs / Math.max(intervalMs ?? normalMs, 1))));
  const isBehind = best - head.number > allowance;
  track.behind = isBehind ? again(track.behind, now) : undefined;
  const same = track.head?.hash === head.hash ? track.head : undefined;
  track.head = { hash: head.hash, date: same?.date ?? date, ...again(same, now) };
}

const again = (before: { since: number; looks: number } | undefined, now: number) => ({
  since: before?.since ?? now,
  looks: (before?.looks ?? 0) + 1,
});

const patienceMs = ({ intervalMs = assumedIntervalMs }: NodeSurroundings) =>
  Math.max(intervalsOfPatience * intervalMs, leastPatienceMs);

const isLong = ({ since, looks }: { since: number; looks: number }, now: number, ms: number) =>
  looks >= leastLooks && now - since >= ms;
