import type { JsonRpcApiProvider } from 'ethers';
import { type NodeAttempt, NodesUnavailableError } from '../rpc/transport/node-fault.ts';
import { nodeMessage } from '../rpc/transport/node-message.ts';
import { isSettled } from './refusal.ts';

type Broadcaster = {
  readonly provider: Pick<JsonRpcApiProvider, 'send'>;
  /** Whether the answer is worth waiting for. */
  readonly isWaitedFor: boolean;
};

/** What the nodes said to a transaction. */
export type BroadcastAnswer = {
  /** Whether a node took it. */
  readonly isTaken: boolean;
  /** The nodes' own words; empty when one took it. */
  readonly words: string;
};

export type BroadcastOptions = {
  /** A node accepted the transaction before and does not have it. So the rejection of another node counts. */
  readonly isDoubted?: boolean;
};

/**
 * Broadcasts a signed transaction to several nodes at once. The first node that takes the transaction decides, whatever others
 * say: the transaction reaches them from there. When no node takes the transaction, the answer has the words of all nodes that
 * answered. For a doubted transaction the function waits for all nodes, and the rejection of any node counts.
 * @throws NodesUnavailableError when no node answered, so that it is unknown whether one has it
 */
export async function broadcastToAll(
  nodes: readonly Broadcaster[],
  raw: string,
  { isDoubted = false }: BroadcastOptions = {},
): Promise<BroadcastAnswer> {
  const sent = nodes.map((node) => ({ ...node, answer: broadcast(node.provider, raw) }));
  const first = Promise.any(sent.map(({ answer }) => answer.then(onlyTaken))).catch(() => undefined);
  const waitedFor = sent.filter(({ isWaitedFor }) => isWaitedFor);
  const answers = (waitedFor.length > 0 ? waitedFor : sent).map(({ answer }) => answer);
  const all = Promise.allSettled(answers);
  if (isDoubted) return decide(await all, isDoubted);
  return (await Promise.race([first, all.then(() => undefined)])) ?? decide(await all, isDoubted);
}

function onlyTaken(answer: BroadcastAnswer): BroadcastAnswer {
  if (answer.isTaken) return answer;
  throw new Error(answer.words);
}

function decide(
  outcomes: readonly PromiseSettledResult<BroadcastAnswer>[],
  isDoubted: boolean,
): BroadcastAnswer {
  const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  if (answers.length > 0) {
    const untaken = answers.filter((answer) => !answer.isTaken);
    const doubts = isDoubted ? untaken.filter((answer) => !isSettled(answer.words)) : [];
    const isTaken = doubts.length === 0 && untaken.length < answers.length;
    const said = doubts.length > 0 ? doubts : untaken;
    const words = [...new Set(said.map((answer) => answer.words))].join('; ');
    return { isTaken, words: isTaken ? '' : words };
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

// A node may repeat the whole transaction in its error.
const mostWords = 300;
// A node that is asked too much says nothing of the transaction.
const busyCodes = new Set([429, -32005, -32029, -32097]);

async function broadcast(provider: Broadcaster['provider'], raw: string): Promise<BroadcastAnswer> {
  try {
    await provider.send('eth_sendRawTransaction', [raw]);
    return { isTaken: true, words: '' };
  } catch (error) {
    if (error instanceof NodesUnavailableError && !error.attempts.some(isAnswer)) throw error;
    const words = nodeMessage(error).replace(/^could not coalesce error; /, '');
    return { isTaken: false, words: words.slice(0, mostWords) || 'an error without words' };
  }
}

const isAnswer = ({ code }: NodeAttempt) => code !== undefined && !busyCodes.has(code);
