import { setTimeout as wait } from 'node:timers/promises';
import { isLimitCode, judgeError, type RpcAnswer } from './answer.ts';
import { NodeFault } from './node-fault.ts';
import type { Transport } from './transport.ts';

/** A transport that asks a node no faster than the node allows. */
export type PacedTransport = Transport & {
  /** Whether the node has limited questions, so that there are pauses between them. */
  isPaced(): boolean;
  /** Whether the next question has to wait. */
  isWaiting(): boolean;
};

const shortestMs = 250;
// A node that allows less than one question a second is of no use. A node that rejects everything for a while must
// not be asked so slowly afterwards.
const longestMs = 1_200;
const longestWaitMs = 10_000;
// Slowly, so that a node with a constant limit rejects few questions.
const faster = 0.9;

/**
 * Asks at once until the node says that it is asked too much. From then on the pause between two questions doubles with
 * each such answer, and shrinks with every other answer.
 * @param now a monotonic clock in milliseconds
 */
export function createPacedTransport(transport: Transport, now: () => number): PacedTransport {
  let intervalMs = 0;
  let freeAt = Number.NEGATIVE_INFINITY;
  let slowedAt = Number.NEGATIVE_INFINITY;

  const turn = async () => {
    if (intervalMs === 0) return;
    const at = Math.max(now(), freeAt);
    if (at - now() > longestWaitMs)
      throw new NodeFault('limited', 'not asked: the node limits questions, and others wait');
    freeAt = at + intervalMs;
    if (at > now()) await wait(at - now());
  };
  const slowDown = (begun: number) => {
    // Questions that were on their way together are rejected together.
    if (begun < slowedAt) return;
    slowedAt = now();
    intervalMs = Math.min(Math.max(shortestMs, 2 * intervalMs), longestMs);
    freeAt = Math.max(freeAt, slowedAt + intervalMs);
  };
  const speedUp = () => {
    intervalMs = intervalMs < shortestMs / 2 ? 0 : intervalMs * faster;
  };

  return {
    async ask(method, params, limits) {
      const endsAt = now() + limits.timeoutMs;
      for (let asked = 1; ; asked += 1) {
        await turn();
        const begun = now();
        const outcome = await settled(transport.ask(method, params, limits));
        if (!isLimited(method, outcome)) {
          speedUp();
          return unwrap(outcome);
        }
        if (limits.isSpecial === true && intervalMs === 0) return unwrap(outcome);
        slowDown(begun);
        // Once more in any case: the time for an answer may be shorter than the pause that the node wants.
        if (limits.isPatient !== true || (asked > 1 && freeAt > endsAt)) return unwrap(outcome);
      }
    },
    isPaced: () => intervalMs > 0,
    isWaiting: () => intervalMs > 0 && freeAt > now(),
    close: () => transport.close(),
  };
}

type Outcome = { readonly answer: RpcAnswer } | { readonly thrown: unknown };

const settled = (asked: Promise<RpcAnswer>): Promise<Outcome> =>
  asked.then(
    (answer) => ({ answer }),
    (thrown: unknown) => ({ thrown }),
  );

function unwrap(outcome: Outcome): RpcAnswer {
  if ('answer' in outcome) return outcome.answer;
  throw outcome.thrown;
}

function isLimited(method: string, outcome: Outcome): boolean {
  if ('thrown' in outcome) return outcome.thrown instanceof NodeFault && outcome.thrown.reason === 'limited';
  const { answer } = outcome;
  return (
    'error' in answer && isLimitCode(answer.error.code) && judgeError(method, answer.error) === 'limited'
  );
}
