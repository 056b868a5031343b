import { inTime } from '../base/in-time.ts';
import type { Logger } from '../base/log.ts';
import { errorText } from '../base/thrown.ts';

/**
 * Ends something.
 * @param graceMs how long work in progress may take to end by itself
 */
type Ending = (graceMs: number) => Promise<void>;

export type Shutdown<Phase extends string> = {
  /** Registers how something ends. The endings of a phase run side by side. */
  add(phase: Phase, what: string, end: Ending): void;
  /**
   * Runs the phases one after the other. A failure, or an ending that exceeds the limit of its phase, is
   * logged and keeps nothing else from running.
   * @throws AggregateError with every failure, once all phases have run
   */
  run(graceMs: number): Promise<void>;
};

/**
 * An orderly stop in named phases.
 * @param limits how long each phase may take, in milliseconds; the phases run in this order
 */
export function createShutdown<Phase extends string>(
  limits: Readonly<Record<Phase, number>>,
  log: Logger,
): Shutdown<Phase> {
  const phases = Object.keys(limits) as Phase[]; // the keys of the record are its phases
  const endings: { readonly phase: Phase; readonly what: string; readonly end: Ending }[] = [];
  return {
    add: (phase, what, end) => void endings.push({ phase, what, end }),
    async run(graceMs) {
      const failures: Error[] = [];
      for (const phase of phases) {
        const started = performance.now();
        const failed = await runAll(
          endings.filter((each) => each.phase === phase),
          graceMs,
          limits[phase],
        );
        const ms = Math.round(performance.now() - started);
        for (const err of failed) log.error({ err, phase }, 'stop phase failed');
        log.info({ phase, ms }, 'stop phase ended');
        failures.push(...failed);
      }
      if (failures.length > 0) {
        const reasons = failures.map(({ message }) => message).join('; ');
        throw new AggregateError(failures, `It did not stop in order: ${reasons}`);
      }
    },
  };
}

async function runAll(
  endings: readonly { readonly what: string; readonly end: Ending }[],
  graceMs: number,
  limitMs: number,
): Promise<Error[]> {
  const outcomes = await Promise.all(
    endings.map(async ({ what, end }) => {
      try {
        await inTime(end(graceMs), limitMs, `not over after ${limitMs} ms`);
        return [];
      } catch (cause) {
        return reasonsOf(cause).map((reason) => failureOf(what, reason));
      }
    }),
  );
  return outcomes.flat();
}

const failureOf = (what: string, cause: unknown) => new Error(`${what}: ${errorText(cause)}`, { cause });

/** All errors of a disposable stack in which several things failed to close, in the order in which they happened. */
export function reasonsOf(error: unknown): unknown[] {
  if (!(error instanceof SuppressedError)) return [error];
  return [...reasonsOf(error.suppressed), ...reasonsOf(error.error)];
}
