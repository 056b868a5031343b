import { isOfEveryNode, messageOf, type RpcAnswer } from '../transport/answer.ts';
import type { JudgedAnswer, RpcEndpoint } from '../transport/endpoint.ts';
import { type NodeAttempt, NodeFault, NodesUnavailableError } from '../transport/node-fault.ts';

export type AskNetwork = (method: string, params: readonly unknown[] | object) => Promise<RpcAnswer>;

/** What failover knows of nodes in addition to their health; nothing by default. */
type Preference = {
  /** Whether a node may be asked before nodes that are known to be worse, such as one that lags. */
  isSound(endpoint: RpcEndpoint): boolean;
  /** Called before each request; it must not wait. */
  refresh(): void;
  /** Methods whose answer counts only when the node still serves the network's chain after it. */
  readonly doubted: ReadonlySet<string>;
};

export const noPreference: Preference = { isSound: () => true, refresh() {}, doubted: new Set() };

/**
 * Sends a request to the nodes of one network, to each at most once, until one answers: first the healthy and sound
 * nodes in the operator's order, then the healthy nodes, then the others by the end of their pause. An error that is a
 * node's fault is the answer only where every node answers with one. The pool waits for a node that limits questions
 * where it is the last node that is left.
 * @throws NodesUnavailableError when none answers; OversizedAnswerError when a contract returns too much
 */
export function createFailover(
  chainId: string,
  endpoints: readonly RpcEndpoint[],
  preference = noPreference,
): AskNetwork {
  return async (method, params) => {
    preference.refresh();
    const attempts: NodeAttempt[] = [];
    const refusals: { readonly endpoint: RpcEndpoint; readonly answer: RpcAnswer }[] = [];
    const limited: RpcEndpoint[] = [];
    /** @returns the answer that the caller gets; undefined where another node is to be asked */
    const ask = async (endpoint: RpcEndpoint, isPatient: boolean): Promise<RpcAnswer | undefined> => {
      const outcome = await attempt(endpoint, { method, params, isPatient }, preference.doubted.has(method));
      if (!('verdict' in outcome)) {
        if (outcome.reason === 'limited') limited.push(endpoint);
        attempts.push({ url: endpoint.label, ...outcome });
        return undefined;
      }
      if (outcome.verdict === 'answer') return outcome.answer;
      if (outcome.verdict === 'refused') refusals.push({ endpoint, answer: outcome.answer });
      if (outcome.verdict === 'limited') limited.push(endpoint);
      attempts.push({ url: endpoint.label, ...wordsOf(outcome) });
      return undefined;
    };
    for (const endpoint of inOrder(endpoints, preference)) {
      const answer = await ask(endpoint, endpoints.length === 1);
      if (answer === undefined) continue;
      if (isOfEveryNode(method, params))
        for (const refusal of refusals) refusal.endpoint.setAside(messageOf(refusal.answer));
      return answer;
    }
    const [refusal] = refusals;
    if (refusal !== undefined && refusals.length === attempts.length) return refusal.answer;
    const [patient] = endpoints.length > 1 ? limited : [];
    const late = patient && (await ask(patient, true));
    if (late !== undefined) return late;
    throw new NodesUnavailableError(chainId, attempts);
  };
}

type Question = {
  readonly method: string;
  readonly params: readonly unknown[] | object;
  readonly isPatient: boolean;
};

/** @returns the answer, or the reason why there is none */
async function attempt(
  endpoint: RpcEndpoint,
  { method, params, isPatient }: Question,
  isDoubted: boolean,
): Promise<JudgedAnswer | Omit<NodeAttempt, 'url'>> {
  try {
    const judged = await endpoint.ask(method, params, { isPatient });
    if (judged.verdict === 'answer' && isDoubted) await endpoint.verifyChain();
    return judged;
  } catch (error) {
    if (!(error instanceof NodeFault)) throw error;
    const { message, retryAfterMs, reason, status } = error;
    return { message, retryAfterMs, reason, status };
  }
}

function wordsOf({ answer, verdict }: JudgedAnswer): Pick<NodeAttempt, 'message' | 'code' | 'reason'> {
  const code = 'error' in answer ? answer.error.code : undefined;
  return { message: messageOf(answer), code, ...(verdict === 'limited' && { reason: 'limited' }) };
}

function inOrder(endpoints: readonly RpcEndpoint[], { isSound }: Preference): RpcEndpoint[] {
  const rank = (endpoint: RpcEndpoint) => 2 * Number(!isSound(endpoint)) + Number(endpoint.isWaiting());
  const healthy = endpoints
    .filter((endpoint) => endpoint.health.healthy())
    .sort((one, other) => rank(one) - rank(other));
  const unhealthy = endpoints.filter((endpoint) => !endpoint.health.healthy());
  // No caller waits for an unhealthy node while another serves: the pool polls it in the background.
  return [...healthy, ...unhealthy.sort((a, b) => a.health.retryAt() - b.health.retryAt())];
}
