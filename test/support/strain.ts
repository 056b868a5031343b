import { availableParallelism, loadavg } from 'node:os';

// Beyond it nothing is to be learnt from a sequence.
const most = 6;

/**
 * How many times as long as on a quiet machine things take on this one, from 1 on, by its load. Timeouts and patience of
 * sequences grow with it: an answer that comes late because nobody has a processor is no fault of a node.
 */
export const strain = (): number =>
  Math.min(most, Math.max(1, (loadavg()[0] ?? 0) / availableParallelism() / 2));
