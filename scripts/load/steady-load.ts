import type { Answer } from './answers.ts';
import type { Caller, Wanted } from './caller.ts';

export type SteadyLoad = {
  /** Every answer so far. */
  readonly answers: readonly Answer[];
  /** When the requests were sent that are not answered yet. */
  pending(): readonly number[];
  /** Resolves when all requests until now are answered, or late. */
  untilAnswered(): Promise<void>;
  /** Sends nothing more. Resolves when all is answered, or late. */
  stop(): Promise<void>;
};

type LoadOptions = {
  readonly callers: readonly Caller[];
  /** The next request of a caller. */
  readonly next: (callerIndex: number) => Wanted;
  /** Requests a second of all callers together. */
  readonly perSecond: number;
};

const tickMs = 25;

/**
 * Sends requests at a steady rate, whether earlier requests are answered or not: as many people ask while a service is
 * slow as while it is quick. Callers take turns.
 */
export function startLoad({ callers, next, perSecond }: LoadOptions): SteadyLoad {
  const answers: Answer[] = [];
  const pending = new Map<Promise<void>, number>();
  const begun = performance.now();
  let sent = 0;
  const ask = () => {
    const index = sent % callers.length;
    const caller = callers[index];
    sent += 1;
    if (caller === undefined) return;
    const asked = caller.ask(next(index)).then((answer) => {
      answers.push(answer);
      pending.delete(asked);
    });
    pending.set(asked, performance.now());
  };
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - begun) / 1_000) * perSecond);
    // What this process was too busy to send is left out: in one burst it would be another load.
    if (due - sent > perSecond) sent = due - Math.ceil(perSecond);
    while (sent < due) ask();
  }, tickMs);
  const untilAnswered = async () => {
    await Promise.all(pending.keys());
  };
  return {
    answers,
    pending: () => [...pending.values()],
    untilAnswered,
    async stop() {
      clearInterval(timer);
      await untilAnswered();
    },
  };
}
