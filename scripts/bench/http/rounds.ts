import { rounded } from '../suite.ts';
import type { Request } from './connection.ts';
import { coreSeconds } from './cores.ts';
import type { LoadFigures } from './load-task.ts';
import type { Loader } from './loader.ts';
import type { Subject } from './subject.ts';

/** One kind of request, asked of both servers alike. */
export type Question = {
  readonly name: string;
  readonly requests: readonly Request[];
  readonly status: number;
  /** Whether nothing is held of it, so that one round is enough. */
  readonly isOnlyTold?: boolean;
  /** Fields of an answer that cannot be the same, such as when it was made. */
  readonly differs?: readonly string[];
};

export type Measured = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Null where there were too few requests to tell. */
  readonly p99Ms: number | null;
  readonly maxMs: number;
  /** CPU of the server for one request, in user and system mode. */
  readonly cpuUs: number;
  /** Requests a second in the fastest round, to those in the slowest. */
  readonly spread: number;
};

export type Comparison = {
  readonly name: string;
  /** Requests a second, ours to the peer's. */
  readonly ratio: number;
  readonly service: Measured;
  readonly peer: Measured;
  /** At a fixed rate, half of what the slower one serves. */
  readonly paced: { readonly perSecond: number; readonly service: Measured; readonly peer: Measured };
};

export type Servers = { readonly service: Subject; readonly peer: Subject };
type RoundOptions = {
  /** Runs of each before those that count. */
  readonly warmUps: number;
  readonly rounds: number;
  readonly seconds: number;
};
type Round = Omit<Measured, 'spread'>;

const usualConnections = 16;
// Who comes at a rate does not wait for a connection.
const pacedConnections = 64;
/** Of fewer, 99 % leave one or none to tell of. */
const leastForP99 = 200;
const longestPacedSeconds = 8;

/** Asks both servers by turns, first as fast as they answer, then at a rate that both can serve. */
export async function compare(
  loader: Loader,
  { service, peer }: Servers,
  { name, requests, status, isOnlyTold = false }: Question,
  { warmUps, rounds: usualRounds, seconds }: RoundOptions,
): Promise<Comparison> {
  const rounds = isOnlyTold ? 1 : usualRounds;
  const run = async (
    subject: Subject,
    load: { seconds: number; connections: number; perSecond?: number },
  ) => {
    const before = coreSeconds(subject.pid);
    const figures = await loader.run({ port: subject.port, requests, status, ...load });
    return roundOf(figures, coreSeconds(subject.pid) - before);
  };
  const saturating = { seconds, connections: usualConnections };
  for (let warm = 0; warm < warmUps; warm += 1)
    for (const subject of [service, peer]) await run(subject, saturating);
  const found: { service: Round[]; peer: Round[] } = { service: [], peer: [] };
  for (let round = 0; round < rounds; round += 1) {
    // Whoever comes second finds the caches of the database warm.
    const turns = round % 2 === 0 ? (['service', 'peer'] as const) : (['peer', 'service'] as const);
    for (const turn of turns) found[turn].push(await run(turn === 'service' ? service : peer, saturating));
  }
  const saturated = { service: middleOf(found.service), peer: middleOf(found.peer) };
  const perSecond = Math.max(
    1,
    Math.floor(Math.min(saturated.service.perSecond, saturated.peer.perSecond) / 2),
  );
  const pacing = { seconds: pacedSeconds(perSecond, seconds), connections: pacedConnections, perSecond };
  // Only told, so once.
  const paced = {
    service: middleOf([await run(service, pacing)]),
    peer: middleOf([await run(peer, pacing)]),
  };
  const ratio = rounded(saturated.service.perSecond / saturated.peer.perSecond);
  return { name, ratio, ...saturated, paced: { ...paced, perSecond } };
}

/** Long enough for a p99, where that does not take too long. */
function pacedSeconds(perSecond: number, usual: number): number {
  const wanted = (leastForP99 * 1.05) / perSecond;
  return wanted > longestPacedSeconds ? usual : Math.max(usual, wanted);
}

function roundOf({ answered, perSecond, p50Ms, p95Ms, p99Ms, maxMs }: LoadFigures, core: number): Round {
  const p99 = answered < leastForP99 ? null : p99Ms;
  return { perSecond, p50Ms, p95Ms, p99Ms: p99, maxMs, cpuUs: (core * 1_000_000) / answered };
}

/** Of each quantity the median of the rounds: other work on the machine spoils some. */
function middleOf(rounds: readonly Round[]): Measured {
  const middle = (quantity: keyof Round) => {
    const sorted = rounds.map((round) => round[quantity] ?? 0).toSorted((one, other) => one - other);
    return rounded(sorted[Math.floor(sorted.length / 2)] ?? 0);
  };
  const rates = rounds.map(({ perSecond }) => perSecond);
  return {
    perSecond: middle('perSecond'),
    p50Ms: middle('p50Ms'),
    p95Ms: middle('p95Ms'),
    p99Ms: rounds.some(({ p99Ms }) => p99Ms === null) ? null : middle('p99Ms'),
    maxMs: middle('maxMs'),
    cpuUs: middle('cpuUs'),
    spread: rounded(Math.max(...rates) / Math.min(...rates)),
  };
}
