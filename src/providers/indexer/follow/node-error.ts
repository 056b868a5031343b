import { lacksData } from '../../../chain/rpc/transport/answer.ts';
import { type Attempt, NodesUnavailableError } from '../../../chain/rpc/transport/node-fault.ts';
import { nodeErrorCode, nodeMessage } from '../../../chain/rpc/transport/node-message.ts';

/** What a node said, or why it said nothing. */
type Words = Pick<Attempt, 'code' | 'message' | 'reason'>;
type Says = (words: Words) => boolean;

function wordsOf(error: unknown): readonly Words[] {
  if (error instanceof NodesUnavailableError) return error.attempts;
  return [{ code: nodeErrorCode(error), message: nodeMessage(error) }];
}

/** Whether each of the nodes that were asked says one of these: one that is silent may have what another does not. */
export function isSaidByAll(error: unknown, ...says: readonly Says[]): boolean {
  const words = wordsOf(error);
  return words.length > 0 && words.every((each) => says.some((say) => say(each)));
}

/** Whether a node says one of these, whatever became of the question to others. */
export function isSaidBySome(error: unknown, ...says: readonly Says[]): boolean {
  return wordsOf(error).some((each) => says.some((say) => say(each)));
}

/** Whether no node has the requested data any more. */
export function isPruned(error: unknown): boolean {
  return isSaidByAll(error, lacksData);
}

/** Whether the node did not answer in time. */
export const isLate: Says = ({ reason }) => reason === 'timeout';

const tooLarge = /response (is |size )*too (big|large)|response size exceed/i;

/** Whether the answer is larger than we accept, or than the node gives. */
export const isTooLarge: Says = ({ reason, message }) => reason === 'overfull' || tooLarge.test(message);
