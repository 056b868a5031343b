/** What a lane was notified for, until a poll takes it: each a `traceparent`. */
export type Causes = {
  add(causes: readonly string[]): void;
  take(): readonly string[];
};

// A poll names no more; nothing but the trace of the others is lost.
const mostCauses = 100;

export function createCauses(): Causes {
  let kept: readonly string[] = [];
  return {
    add(causes) {
      if (causes.length > 0) kept = [...kept, ...causes].slice(0, mostCauses);
    },
    take() {
      const taken = kept;
      kept = [];
      return taken;
    },
  };
}
