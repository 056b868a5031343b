import { z } from 'zod';
import { untilAborted } from '../../../base/in-time.ts';
import { ContractNonsenseError } from '../../../chain/minting/evidence-node.ts';
import {
  NodeFault,
  NodesUnavailableError,
  OversizedAnswerError,
} from '../../../chain/rpc/transport/node-fault.ts';
import { nodeErrorCode, nodeMessage } from '../../../chain/rpc/transport/node-message.ts';
import type { MintReason } from '../../minting/mint-reason.ts';
import type { LaneContext } from './lane-context.ts';

/** The questions for evidence that one poll may ask, and what may be concluded when one has no answer. */
export type Inquiry = {
  /**
   * Asks one question for evidence. Ends at once when the lane is to stop.
   * @throws PacedError when the poll has asked enough; what the question throws
   */
  ask<T>(question: () => Promise<T>): Promise<T>;
  /**
   * Why evidence is not to be had, from the error with which the search for it ended.
   * @throws the error itself when it ends the poll: the node answers nothing at all any more, or the cause is not
   *   the node
   */
  reasonOf(error: unknown): Promise<NoEvidence>;
};

/** Why an NFT waits. */
export type NoEvidence = { readonly reason: MintReason; readonly detail: string };

/**
 * The poll has asked as many questions as it may; the next one goes on. The cause is the last failure, where questions
 * that failed have taken all the time.
 */
export class PacedError extends Error {
  constructor(cause?: Error) {
    super('The search goes on with the next look at the chain.', { cause });
    this.name = 'PacedError';
  }
}

// With a poll every five seconds: seven million blocks an hour from a node that gives 500 at once.
const mostQuestions = 20;
// Questions that time out delay everything after them.
export const mostFailingMs = 2_000;

/** @param most how many questions it may ask */
export function createInquiry(
  context: Pick<LaneContext, 'node' | 'now' | 'stopping'>,
  most = mostQuestions,
): Inquiry {
  const { node, now, stopping } = context;
  const refused = new WeakSet<object>();
  let questions = most;
  let failingMs = 0;
  let failure: Error | undefined;

  return {
    async ask(question) {
      if (failingMs > mostFailingMs) throw new PacedError(failure);
      if (questions === 0) throw new PacedError();
      questions -= 1;
      const begun = now();
      try {
        return await untilAborted(question(), stopping);
      } catch (error) {
        failingMs += now() - begun;
        if (error instanceof Error) {
          refused.add(error);
          failure = error;
        }
        throw error;
      }
    },
    async reasonOf(error) {
      if (stopping.aborted || !(error instanceof Error)) throw error;
      const cause = error instanceof PacedError ? error.cause : error;
      if (!(cause instanceof Error)) return { reason: 'history_searched', detail: error.message };
      if (!refused.has(cause)) throw cause;
      if (cause instanceof ContractNonsenseError) {
        return { reason: 'contract_nonsense', detail: cause.message };
      }
      if (!(await answersOthers(node, cause, stopping))) throw cause;
      return { reason: 'evidence_unavailable', detail: `The node does not answer: ${wordsOf(cause)}` };
    },
  };
}

/** A node answers what cannot be true, so that nothing is concluded from it. */
export class DistrustError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DistrustError';
  }
}

/** Whether a node answered, though not with what was asked for. */
const isAnswer = (error: unknown): boolean =>
  [z.ZodError, OversizedAnswerError, ContractNonsenseError, DistrustError].some(
    (type) => error instanceof type,
  ) || nodeErrorCode(error) !== undefined;

/** Whether a node is to blame for an error, rather than our database or code. */
export const isOfNode = (error: unknown): boolean =>
  isAnswer(error) || error instanceof NodesUnavailableError || error instanceof NodeFault;

/** Whether a node gave no answer in time. The same question would take as long again. */
export const hasTimedOut = (error: unknown): boolean =>
  error instanceof NodesUnavailableError && error.attempts.some(({ reason }) => reason === 'timeout');

/** Whether a node that failed at one question answers others. A question that it answered with an error needs no proof. */
export async function answersOthers(
  node: LaneContext['node'],
  error: unknown,
  stopping: AbortSignal,
): Promise<boolean> {
  if (isAnswer(error)) return true;
  try {
    // Not for the newest block, which a pinned node knows already.
    await untilAborted(node.chainId(), stopping);
    return true;
  } catch {
    return false;
  }
}

/** The node's own words, short enough for a note. */
export function wordsOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'its answer has not the form that it must have';
  return nodeMessage(error).slice(0, 300);
}
