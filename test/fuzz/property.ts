import fc, { type Arbitrary } from 'fast-check';
import type { Prober, Probing, Trace } from './prober.ts';

/** Something that must hold for every value of an arbitrary. */
export type Property = {
  readonly name: string;
  /** How many requests it gets, compared with the others. */
  readonly share: number;
  /** Tries some values. The same seed gives the same values. */
  tryOut(probing: Probing, seed: number, tries: number): Promise<Finding | undefined>;
};

/** A value for which a property does not hold, made as small as can be. */
export type Finding = {
  readonly property: string;
  readonly reason: string;
  /** The requests of the smallest counterexample. */
  readonly trace: Trace;
};

/** @param run rejects when the property does not hold for the value */
export function property<T>(
  name: string,
  share: number,
  values: Arbitrary<T>,
  run: (prober: Prober, value: T) => Promise<void>,
): Property {
  return {
    name,
    share,
    async tryOut(probing, seed, tries) {
      // The smallest failing value is the one that failed last.
      let failed: Trace = [];
      const checked = fc.asyncProperty(values, async (value) => {
        const prober = probing.newProber();
        try {
          await run(prober, value);
        } catch (error) {
          failed = prober.trace;
          throw error;
        }
      });
      const { failed: isFailed, errorInstance } = await fc.check(checked, {
        seed,
        numRuns: tries,
        // Each step of shrinking sends requests.
        interruptAfterTimeLimit: 60_000,
      });
      if (!isFailed) return undefined;
      return {
        property: name,
        reason: errorInstance instanceof Error ? errorInstance.message : 'interrupted: took over 60 s',
        trace: failed,
      };
    },
  };
}

/** Fails a property with a reason. */
export function assert(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Error(reason);
}
