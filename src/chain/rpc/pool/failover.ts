import { messageOf, type RpcAnswer } from '../transport/answer.ts';
import type { Endpoint, Judged } from '../transport/endpoint.ts';
import { type Attempt, NodeFault, NodesUnavailableError } from '../transport/node-fault.ts';

export type AskNetwork = (method: string, params: readonly unknown[] | object) => Promise<RpcAnswer>;

/** What failover knows of nodes beside their health; nothing by default. */
type Preference = {
  /** Whether a node may be asked before those of which the opposite is known, such as one that lags. */
  isSound(endpoint: Endpoint): boolean;
  /** Called before each request; it must not wait. */
  refresh(): void;
  /** Methods whose answer counts only when the node still serves the network's chain after it. */
  readonly doubted: ReadonlySet<string>;
};

const noPreference: Preference = { isSound: () => true, refresh() {}, doubted: new Set() };

/**
 * Sends a request to the nodes of one network, to each at most once, until one answers: first the healthy and sound
 * ones in the operator's order, then the healthy ones, then the others by the end of their pause. That a node does
 * not have what is asked for is an answer only where all of them say so.
 * @throws NodesUnavailableError when none answers; OversizedAnswerError when a contract returns too much
 */
export function createFailover(
  chainId: string,
  endpoints: readonly Endpoint[],
  preference = noPreference,
): AskNetwork {
  return async (method, params) => {
    preference.refresh();
    const attempts: Attempt[] = [];
    const lacking: RpcAnswer[] = [];
    for (const endpoint of inOrder(endpoints, preference)) {
      const outcome = await attempt(endpoint, method, params, preference.doubted.has(method));
      if ('verdict' in outcome && outcome.verdict === 'answer') return outcome.answer;
      if ('verdict' in outcome && outcome.verdict === 'lacking') lacking.push(outcome.answer);
      attempts.push({ url: endpoint.label, ...('verdict' in outcome ? wordsOf(outcome) : outcome) });
    }
    const [answer] = lacking;
    if (answer !== undefined && lacking.length === attempts.length) return answer;
    throw new NodesUnavailableError(chainId, attempts);
  };
}

/** @returns the answer, or the reason why there is none */
async function attempt(
  endpoint: Endpoint,
  method: string,
  params: readonly unknown[] | object,
  isDoubted: boolean,
): Promise<Judged | Omit<Attempt, 'url'>> {
  try {
    const judged = await endpoint.ask(method, params);
    if (judged.verdict === 'answer' && isDoubted) await endpoint.verifyChain();
    return judged;
  } catch (error) {
    if (!(error instanceof NodeFault)) throw error;
    return { message: error.message, retryAfterMs: error.retryAfterMs, reason: error.reason };
  }
}

function wordsOf({ answer }: Judged): Pick<Attempt, 'message' | 'code'> {
  return { message: messageOf(answer), code: 'error' in answer ? answer.error.code : undefined };
}

function inOrder(endpoints: readonly Endpoint[], { isSound }: Preference): Endpoint[] {
  const healthy = endpoints
    .filter((endpoint) => endpoint.health.healthy())
    .sort((one, other) => Number(isSound(other)) - Number(isSound(one)));
  const unhealthy = endpoints.filter((endpoint) => !endpoint.health.healthy());
  // No caller waits for an unhealthy node while another serves: its recovery runs in the background.
  if (healthy.length > 0) for (const endpoint of unhealthy) endpoint.recover();
  return [...healthy, ...unhealthy.sort((a, b) => a.health.retryAt() - b.health.retryAt())];
}
