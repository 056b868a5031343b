import type { JsonRpcApiProvider } from 'ethers';
import { NodesUnavailableError } from '../rpc/node-fault.ts';
import { nodeMessage } from '../rpc/node-message.ts';
import { type BroadcastFault, broadcastFault } from './broadcast-error.ts';

type Broadcaster = {
  readonly provider: Pick<JsonRpcApiProvider, 'send'>;
  /** Whether the answer is worth waiting for. */
  readonly isWaitedFor: boolean;
};

type Answer = 'sent' | BroadcastFault;

/**
 * Broadcasts a signed transaction to several nodes at once. The first that has it decides, whatever others say: it
 * reaches them from there. When none has it, the refusal of the first node in order counts.
 * @throws NodesUnavailableError when no node answered, so that it is unknown whether one has it
 */
export async function broadcastToAll(nodes: readonly Broadcaster[], raw: string): Promise<Answer> {
  const sent = nodes.map((node) => ({ ...node, answer: broadcast(node.provider, raw) }));
  const first = Promise.any(sent.map(({ answer }) => answer.then(onlyTaken))).catch(() => undefined);
  const waitedFor = sent.filter(({ isWaitedFor }) => isWaitedFor);
  const answers = (waitedFor.length > 0 ? waitedFor : sent).map(({ answer }) => answer);
  const all = Promise.allSettled(answers);
  return (await Promise.race([first, all.then(() => undefined)])) ?? decide(await all);
}

const isTaken = (answer: Answer) => answer === 'sent' || answer === 'known';

function onlyTaken(answer: Answer): Answer {
  if (isTaken(answer)) return answer;
  throw new Error(answer);
}

function decide(outcomes: readonly PromiseSettledResult<Answer>[]): Answer {
  const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const answer = answers.find(isTaken) ?? answers[0];
  if (answer !== undefined) return answer;
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const unavailable = errors.filter((error) => error instanceof NodesUnavailableError);
  const [one] = unavailable;
  if (one === undefined) throw errors[0];
  throw new NodesUnavailableError(
    one.chainId,
    unavailable.flatMap(({ attempts }) => attempts),
  );
}

async function broadcast(provider: Broadcaster['provider'], raw: string): Promise<Answer> {
  try {
    await provider.send('eth_sendRawTransaction', [raw]);
    return 'sent';
  } catch (error) {
    const fault = broadcastFault(nodeMessage(error));
    if (fault === 'refused' && error instanceof NodesUnavailableError) throw error;
    return fault;
  }
}
