import { type NodeAttempt, NodesUnavailableError } from '../../../chain/rpc/transport/node-fault.ts';
import { nodeErrorCode, nodeMessage } from '../../../chain/rpc/transport/node-message.ts';

/** What became of a question at one node. */
type Outcome = Pick<NodeAttempt, 'code' | 'message' | 'reason' | 'status'>;
type Is = (outcome: Outcome) => boolean;

function outcomesOf(error: unknown): readonly Outcome[] {
  if (error instanceof NodesUnavailableError) return error.attempts;
  return [{ code: nodeErrorCode(error), message: nodeMessage(error) }];
}

/** Whether one of these is so at each node that was asked: one that is silent may have what another does not. */
export function isAtAll(error: unknown, ...kinds: readonly Is[]): boolean {
  const outcomes = outcomesOf(error);
  return outcomes.length > 0 && outcomes.every((each) => kinds.some((is) => is(each)));
}

/** Whether one of these is so at a node, whatever became of the question at others. */
export function isAtSome(error: unknown, ...kinds: readonly Is[]): boolean {
  return outcomesOf(error).some((each) => kinds.some((is) => is(each)));
}

/**
 * Whether the node answered with an error, in whatever words, or by a status of HTTP that blames the question. A node that
 * limits questions may answer later.
 */
export const isError: Is = ({ code, reason, status = 0 }) =>
  reason !== 'limited' && (code !== undefined || (status >= 400 && status < 500));

/** Whether the node does not have the method, by the code that JSON-RPC has for it. */
export const isWithoutMethod: Is = ({ code }) => code === -32601;

/** Whether the node may answer later: it did not in time, or is asked too much. */
export const isLate: Is = ({ reason }) => reason === 'timeout' || reason === 'limited';

/** Whether the answer is larger than we accept. */
export const isTooLarge: Is = ({ reason }) => reason === 'overfull';
