import { setTimeout as pause } from 'node:timers/promises';

type PaceOptions = {
  /** Requests a second. */
  readonly perSecond: number;
  readonly seconds: number;
  /** After the last is due. */
  readonly patienceMs: number;
};

export type PaceOutcome = {
  /** Requests that were due and found no free connection at once, at most. */
  readonly mostWaiting: number;
  /** When patience was over. */
  readonly unanswered: number;
};

/**
 * Sends requests when they are due, whether earlier ones are answered or not: each over a connection that is free. What
 * finds none is sent by the next that becomes free.
 * @param ask sends one; `due` is when it should have gone
 * @throws what `ask` throws
 */
export async function keepPace<Connection>(
  connections: readonly Connection[],
  ask: (connection: Connection, due: number) => Promise<void>,
  { perSecond, seconds, patienceMs }: PaceOptions,
): Promise<PaceOutcome> {
  const free = [...connections];
  const everyMs = 1_000 / perSecond;
  const total = Math.max(1, Math.floor(seconds * perSecond));
  const begun = performance.now();
  const until = begun + seconds * 1_000 + patienceMs;
  const failed = Promise.withResolvers<never>();
  // Those that wait are the numbers between: nothing is kept of them, however many they are.
  const count = { due: 0, sent: 0, answered: 0 };
  const goOn = async (connection: Connection): Promise<void> => {
    while (count.sent < count.due) {
      const due = begun + count.sent * everyMs;
      count.sent += 1;
      await ask(connection, due);
      count.answered += 1;
    }
    free.push(connection);
  };
  let mostWaiting = 0;
  const sendAll = async () => {
    while (count.answered < total && performance.now() < until) {
      count.due = Math.min(total, Math.floor((performance.now() - begun) / everyMs) + 1);
      for (let left = count.due - count.sent; left > 0 && free.length > 0; left -= 1) {
        const connection = free.pop();
        if (connection !== undefined) void goOn(connection).catch(failed.reject);
      }
      mostWaiting = Math.max(mostWaiting, count.due - count.sent);
      await pause(1);
    }
  };
  await Promise.race([sendAll(), failed.promise]);
  return { mostWaiting, unanswered: total - count.answered };
}
