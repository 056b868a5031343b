import type { ServerResponse } from 'node:http';
import { whenOver } from '../server/when-over.ts';

export type HealthLine = {
  /**
   * Lets a question for the health be answered, at once or in its turn, and never when its caller has gone before.
   * @param network whose questions take turns with those of others
   * @param response of the question
   */
  enter(network: string, response: ServerResponse, answer: () => void): void;
};

// Whoever watches a process asks some times a second. At this pace answers about health take a tenth of it, whoever asks.
const perMs = 1;
const burst = 100;
const tickMs = 5;

/**
 * Who asks for the health of a process is answered however much it has to do, and so is not refused. So that a flood of such
 * questions takes nothing from all others, they have a pace; networks take turns, so that a load balancer waits behind no
 * stranger. Each connection has one question in the line at most.
 * @param now a monotonic clock in milliseconds
 */
export function createHealthLine(now: () => number = () => performance.now()): HealthLine {
  const waiting = new Map<string, Set<() => void>>();
  let allowed = burst;
  let since = now();
  let isTimed = false;

  const count = () => {
    const at = now();
    allowed = Math.min(allowed + (at - since) * perMs, burst);
    since = at;
  };
  const leave = (network: string, line: Set<() => void>, answer: () => void) => {
    line.delete(answer);
    if (line.size === 0 && waiting.get(network) === line) waiting.delete(network);
  };
  const answerWaiting = () => {
    isTimed = false;
    count();
    for (const [network, line] of waiting) {
      if (allowed < 1) break;
      allowed -= 1;
      // Behind those of other networks; this loop comes to it again.
      waiting.delete(network);
      waiting.set(network, line);
      for (const answer of line) {
        leave(network, line, answer);
        answer();
        break;
      }
    }
    if (waiting.size > 0) answerLater();
  };
  const answerLater = () => {
    if (isTimed) return;
    isTimed = true;
    setTimeout(answerWaiting, tickMs);
  };

  return {
    enter(network, response, answer) {
      count();
      if (waiting.size === 0 && allowed >= 1) {
        allowed -= 1;
        answer();
        return;
      }
      const line = waiting.get(network) ?? new Set();
      waiting.set(network, line.add(answer));
      whenOver(response, () => leave(network, line, answer));
      answerLater();
    },
  };
}
