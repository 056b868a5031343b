import { type NodeAttempt, NodesUnavailableError } from '../../../chain/rpc/transport/node-fault.ts';
import { nodeErrorCode, nodeMessage } from '../../../chain/rpc/transport/node-message.ts';

/** The outcome of a question at one node. */
type Outcome = Pick<NodeAttempt, 'code' | 'message' | 'reason' | 'status'>;
type Is = (outcome: Outcome) => boolean;

function outcomesOf(error: unknown): readonly Outcome[] {
  if (error instanceof NodesUnavailableError) return error.attempts;
  return [{ code: nodeErrorCode(error), message: nodeMessage(error) }];
}

/**
 * Returns whether each node that was asked had one of these outcomes. A silent node may have what another does not.
 */
export function isAtAll(error: unknown, ...kinds: readonly Is[]): boolean {
  const outcomes = outcomesOf(error);
  return outcomes.length > 0 && outcomes.every((each) => kinds.some((is) => is(each)));
}

/** Returns whether any node had one of these outcomes. */
export function isAtSome(error: unknown, ...kinds: readonly Is[]): boolean {
  return outcomesOf(error).some((each) => kinds.some((is) => is(each)));
}

/**
 * Whether the node answered with an error, in whatever words, or with an HTTP status that blames the question. A node
 * that limits questions may answer later.
 */
export const isError: Is = ({ code, reason, status = 0 }) =>
  reason !== 'limited' && (code !== undefined || (status >= 400 && status < 500));

/** Whether the node does not have the method, by its JSON-RPC code. */
export const isWithoutMethod: Is = ({ code }) => code === -32601;

/** Whether the node may answer later: it was too slow, or limits questions. */
export const isLate: Is = ({ reason }) => reason === 'timeout' || reason === 'limited';

/** Whether the answer is larger than we accept. */
export const isTooLarge: Is = ({ reason }) => reason === 'overfull';
