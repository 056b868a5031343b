import type { Subject } from '../start-service.ts';
import { rounded } from '../suite.ts';
import type { Request } from './connection.ts';
import { coreSeconds } from './cores.ts';
import type { Loader } from './loader.ts';

/** One kind of request, asked of both servers alike. */
export type Question = {
  readonly name: string;
  readonly requests: readonly Request[];
  readonly status: number;
  /** Whether it has no bound, so that one round is enough. */
  readonly isOnlyTold?: boolean;
  /** Fields of an answer that cannot be the same, such as when it was made. */
  readonly differs?: readonly string[];
};

type Measured = {
  readonly perSecond: number;
  readonly p99Ms: number;
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
};

export type Servers = { readonly service: Subject; readonly peer: Subject };
type RoundOptions = {
  /** Runs of each server before the runs that count. */
  readonly warmUps: number;
  readonly rounds: number;
  readonly seconds: number;
};
type Round = Omit<Measured, 'spread'>;

/** Asks both servers by turns, as fast as they answer. */
export async function compare(
  loader: Loader,
  servers: Servers,
  { name, requests, status, isOnlyTold = false }: Question,
  { warmUps, rounds, seconds }: RoundOptions,
): Promise<Comparison> {
  const run = async ({ pid, port }: Subject): Promise<Round> => {
    const before = coreSeconds(pid);
    const { answered, perSecond, p99Ms } = await loader.run({ port, requests, status, seconds });
    return { perSecond, p99Ms, cpuUs: ((coreSeconds(pid) - before) * 1_000_000) / answered };
  };
  for (let warm = 0; warm < warmUps; warm += 1)
    for (const subject of Object.values(servers)) await run(subject);
  const found: { service: Round[]; peer: Round[] } = { service: [], peer: [] };
  for (let round = 0; round < (isOnlyTold ? 1 : rounds); round += 1) {
    // The second server finds the caches of the database warm.
    const turns = round % 2 === 0 ? (['service', 'peer'] as const) : (['peer', 'service'] as const);
    for (const turn of turns) found[turn].push(await run(servers[turn]));
  }
  const [service, peer] = [middleOf(found.service), middleOf(found.peer)];
  return { name, ratio: rounded(service.perSecond / peer.perSecond), service, peer };
}

/** Of each quantity the median of the rounds: other work on the machine spoils some. */
function middleOf(rounds: readonly Round[]): Measured {
  const middle = (quantity: keyof Round) => {
    const sorted = rounds.map((round) => round[quantity]).toSorted((one, other) => one - other);
    return rounded(sorted[Math.floor(sorted.length / 2)] ?? 0);
  };
  const rates = rounds.map(({ perSecond }) => perSecond);
  const spread = rounded(Math.max(...rates) / Math.min(...rates));
  return { perSecond: middle('perSecond'), p99Ms: middle('p99Ms'), cpuUs: middle('cpuUs'), spread };
}
