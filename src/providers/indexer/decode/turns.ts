import { setImmediate } from 'node:timers/promises';

/** Work that pauses after each of its steps. No step takes more than some milliseconds. */
export type Steps<Result> = Generator<void, Result, void>;

/** Does all steps at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export type LoopTurns = <Result>(steps: Steps<Result>) => Promise<Result>;

// An index may share its process with an API, and has a lease to renew.
const turnMs = 20;

type Clock = { readonly now: () => number; readonly others: () => Promise<unknown> };

/** Runs work in steps, one piece of work after the other, and lets everything else run every 20 ms. */
export function createLoopTurns(
  { now, others }: Clock = { now: performance.now.bind(performance), others: setImmediate },
): LoopTurns {
  let line: Promise<unknown> = Promise.resolve();
  let inLine = 0;
  let since = 0;
  const work = async <Result>(steps: Steps<Result>): Promise<Result> => {
    for (;;) {
      if (now() - since >= turnMs) {
        await others();
        since = now();
      }
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  };
  return (steps) => {
    // Work that arrives next to other work gets no turn of its own: a hundred small blocks take as long as a large
    // block.
    if (inLine === 0) since = now();
    inLine += 1;
    const done = line.then(() => work(steps));
    line = done.then(leave, leave);
    return done;
  };
  function leave() {
    inLine -= 1;
  }
}
