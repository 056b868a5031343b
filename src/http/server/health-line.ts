type Go = () => void;

export type HealthLine = {
  /**
   * Lets a question for the health be answered, at once or in its turn.
   * @param network whose questions take turns with those of others
   */
  enter(network: string, go: Go): void;
};

// Whoever watches a process asks some times a second. At this pace answers about health take a tenth of it, whoever asks.
const perMs = 1;
const burst = 100;
const tickMs = 5;

/**
 * Who asks for the health of a process is answered however much it has to do, and so is not refused. So that a flood of such
 * questions takes nothing from all others, they have a pace; networks take turns, so that a load balancer waits behind no
 * stranger.
 */
export function createHealthLine(now: () => number = () => performance.now()): HealthLine {
  const waiting = new Map<string, Go[]>();
  let allowed = burst;
  let since = now();
  let isTimed = false;

  const count = () => {
    const at = now();
    allowed = Math.min(allowed + (at - since) * perMs, burst);
    since = at;
  };
  const answerWaiting = () => {
    isTimed = false;
    count();
    for (const [network, [go, ...others]] of waiting) {
      if (allowed < 1) break;
      allowed -= 1;
      // Behind those of other networks; this loop comes to it again.
      waiting.delete(network);
      if (others.length > 0) waiting.set(network, others);
      go?.();
    }
    if (waiting.size > 0) answerLater();
  };
  const answerLater = () => {
    if (isTimed) return;
    isTimed = true;
    setTimeout(answerWaiting, tickMs);
  };

  return {
    enter(network, go) {
      count();
      if (waiting.size === 0 && allowed >= 1) {
        allowed -= 1;
        go();
        return;
      }
      const before = waiting.get(network);
      if (before === undefined) waiting.set(network, [go]);
      else before.push(go);
      answerLater();
    },
  };
}
