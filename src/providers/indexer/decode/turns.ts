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

// An index may share its process with an API, and has a lease to renew.
const turnMs = 20;

/** Does all steps, and lets everything else run every 20 ms. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  let since = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - since < turnMs) continue;
    await setImmediate();
    since = performance.now();
  }
}
