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
  readonly connections?: number;
};

type Measured = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU of the server for one request, in user and system mode. */
  readonly cpuUs: number;
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

type Servers = { readonly service: Subject; readonly peer: Subject };
type RoundOptions = {
  /** Runs of each before those that count. */
  readonly warmUps: number;
  readonly rounds: number;
  readonly seconds: number;
};

const usualConnections = 16;

/** Asks both servers by turns, first as fast as they answer, then at a rate that both can serve. */
export async function compare(
  loader: Loader,
  { service, peer }: Servers,
  question: Question,
  { warmUps, rounds, seconds }: RoundOptions,
): Promise<Comparison> {
  const run = async (subject: Subject, perSecond?: number) => {
    const before = coreSeconds(subject.pid);
    const figures = await loader.run({
      ...{ port: subject.port, connections: question.connections ?? usualConnections, seconds },
      ...{ requests: question.requests, status: question.status },
      ...(perSecond !== undefined && { perSecond }),
    });
    return measuredOf(figures, coreSeconds(subject.pid) - before);
  };
  const both = async (times: number, perSecond?: number) => {
    const found: { service: Measured[]; peer: Measured[] } = { service: [], peer: [] };
    for (let round = 0; round < times; round += 1) {
      // Whoever comes second finds the caches of the database warm.
      const turns = round % 2 === 0 ? (['service', 'peer'] as const) : (['peer', 'service'] as const);
      for (const turn of turns) found[turn].push(await run(turn === 'service' ? service : peer, perSecond));
    }
    return { service: middleOf(found.service), peer: middleOf(found.peer) };
  };
  for (let warm = 0; warm < warmUps; warm += 1) for (const subject of [service, peer]) await run(subject);
  const saturated = await both(rounds);
  const pace = Math.max(1, Math.floor(Math.min(saturated.service.perSecond, saturated.peer.perSecond) / 2));
  // Only told, so once.
  const paced = await both(1, pace);
  const ratio = rounded(saturated.service.perSecond / saturated.peer.perSecond);
  return { name: question.name, ratio, ...saturated, paced: { ...paced, perSecond: pace } };
}

function measuredOf(
  { answered, perSecond, p50Ms, p95Ms, p99Ms, maxMs }: LoadFigures,
  core: number,
): Measured {
  return { perSecond, p50Ms, p95Ms, p99Ms, maxMs, cpuUs: (core * 1_000_000) / answered };
}

/** Of each quantity the median of the rounds: other work on the machine spoils some. */
function middleOf(rounds: readonly Measured[]): Measured {
  const middle = (quantity: keyof Measured) => {
    const sorted = rounds.map((round) => round[quantity]).toSorted((one, other) => one - other);
    return rounded(sorted[Math.floor(sorted.length / 2)] ?? 0);
  };
  return {
    ...{ perSecond: middle('perSecond'), p50Ms: middle('p50Ms'), p95Ms: middle('p95Ms') },
    ...{ p99Ms: middle('p99Ms'), maxMs: middle('maxMs'), cpuUs: middle('cpuUs') },
  };
}
