import type { JsonRpcApiProvider } from 'ethers';
import { NodesUnavailableError } from '../rpc/transport/node-fault.ts';
import { nodeMessage } from '../rpc/transport/node-message.ts';
import { type BroadcastAnswer, broadcastFault, judgeBroadcast } from './broadcast-error.ts';

type Broadcaster = {
  readonly provider: Pick<JsonRpcApiProvider, 'send'>;
  /** Whether the answer is worth waiting for. */
  readonly isWaitedFor: boolean;
};

/**
 * Broadcasts a signed transaction to several nodes at once. The first that has it decides, whatever others say: it
 * reaches them from there. When none has it, {@link judgeBroadcast} decides; a node that gave no answer may have it, so
 * it is refused only when all of them refuse it.
 * @throws NodesUnavailableError when no node answered, so that it is unknown whether one has it
 */
export async function broadcastToAll(nodes: readonly Broadcaster[], raw: string): Promise<BroadcastAnswer> {
  const sent = nodes.map((node) => ({ ...node, answer: broadcast(node.provider, raw) }));
  const first = Promise.any(sent.map(({ answer }) => answer.then(onlyTaken))).catch(() => undefined);
  const waitedFor = sent.filter(({ isWaitedFor }) => isWaitedFor);
  const answers = (waitedFor.length > 0 ? waitedFor : sent).map(({ answer }) => answer);
  const all = Promise.allSettled(answers);
  return (await Promise.race([first, all.then(() => undefined)])) ?? decide(await all);
}

const isTaken = ({ outcome }: BroadcastAnswer) => outcome === 'sent' || outcome === 'known';

function onlyTaken(answer: BroadcastAnswer): BroadcastAnswer {
  if (isTaken(answer)) return answer;
  throw new Error(answer.words);
}

function decide(outcomes: readonly PromiseSettledResult<BroadcastAnswer>[]): BroadcastAnswer {
  const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  if (answers.length > 0) {
    const best = judgeBroadcast(answers);
    const isUnclear = best.outcome === 'refused' && answers.length < outcomes.length;
    return isUnclear ? { ...best, outcome: 'unknown' } : best;
  }
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const unavailable = errors.filter((error) => error instanceof NodesUnavailableError);
  const [one] = unavailable;
  if (one === undefined) throw errors[0];
  throw new NodesUnavailableError(
    one.chainId,
    unavailable.flatMap(({ attempts }) => attempts),
  );
}

async function broadcast(provider: Broadcaster['provider'], raw: string): Promise<BroadcastAnswer> {
  try {
    await provider.send('eth_sendRawTransaction', [raw]);
    return { outcome: 'sent', words: '' };
  } catch (error) {
    const message = nodeMessage(error);
    const outcome = broadcastFault(message);
    if (outcome === 'unknown' && error instanceof NodesUnavailableError) throw error;
    return { outcome, words: message.replace(/^could not coalesce error; /, '') };
  }
}
