import type { Logger } from '../../../base/log.ts';
import { inBackground } from '../../../base/request-scope.ts';
import type { Outgoing } from '../../../outgoing/outgoing.ts';
import { judge, messageOf, type RpcAnswer, type Verdict } from './answer.ts';
import { checkForm } from './answer-form.ts';
import { isOfContents, isOfRefusals, mostBytesOf } from './answer-size.ts';
import { checkChainId, createChainCheck } from './chain-id.ts';
import { createHealth, type Health, pauseAfter } from './health.ts';
import { longRevert } from './long-revert.ts';
import { NodeFault, OversizedAnswerError } from './node-fault.ts';
import { askBlock, type HeadBlock, lookAtNode, type Sight } from './node-look.ts';
import { openTransport } from './open-transport.ts';
import { quantity } from './quantity.ts';
import { shareNext } from './share-next.ts';
import type { Transport } from './transport.ts';

/** One URL of a network, with its health. */
export type Endpoint = {
  /** The URL without credentials and other parts that may be secret. */
  readonly label: string;
  readonly health: Pick<Health, 'healthy' | 'retryAt'>;
  /**
   * Sends one request, after verifying that the node serves the network's chain. A result is of the kind that its method has.
   * @param mostBytes the greatest size of the answer
   * @throws NodeFault after recording the failure, but for an overfull block;
   *   OversizedAnswerError when a contract returns too much
   */
  ask(method: string, params: readonly unknown[] | object, mostBytes?: typeof mostBytesOf): Promise<Judged>;
  /** Looks at the node, whether it is healthy or not. Never rejects; what it shows counts for the health. */
  look(): Promise<Sight>;
  /** The block with this number on the node's chain; null when it has none. @throws NodeFault */
  block(number: bigint): Promise<HeadBlock | null>;
  /** Verifies from now on that the node serves the network's chain, once for all who ask meanwhile. @throws NodeFault */
  verifyChain(): Promise<void>;
  /** Checks in the background whether an unhealthy node works again, once its pause is over. */
  recover(): void;
  close(): void;
};

export type Judged = { readonly verdict: Verdict; readonly answer: RpcAnswer };

type EndpointOptions = {
  readonly url: string;
  /** The URL as logs and people may see it, different for each node of a network. */
  readonly label: string;
  /** Why its address could not be read, if so: it fails every request. */
  readonly unread?: string | undefined;
  readonly chainId: string;
  readonly timeoutMs: number;
  readonly outgoing: Outgoing;
  readonly log: Logger;
  readonly now: () => number;
};

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { url, label, unread, chainId, timeoutMs, outgoing, log, now } = options;
  const transport = openTransport(url, { outgoing, label: `${chainId} ${label}`, unread });
  const health = createHealth({ label, chainId, log, now });
  const chain = createChainCheck({ transport, chainId, timeoutMs, now });
  // A node that cannot say what is final would cost every look its timeout.
  const tag = { failures: 0, retryAt: 0 };
  let recovering = false;

  const fail = (begun: number, error: unknown) => {
    // That no turn came says nothing of the node, nor does what others have put into a block.
    if (!(error instanceof NodeFault) || error.reason === 'busy' || error.reason === 'overfull') return;
    chain.forget();
    if (error.reason !== 'shut') health.failed(begun, error.reason, error.message);
  };

  const verify = async () => {
    try {
      await checkChainId({ transport, chainId, timeoutMs });
    } catch (error) {
      chain.forget();
      throw error;
    }
  };
  const verifyShared = shareNext(() => inBackground(verify));

  return {
    label,
    health,
    async ask(method, params, mostBytes = mostBytesOf) {
      const begun = health.failures();
      try {
        await chain.check();
        const answer = await askWithin(transport, method, params, {
          timeoutMs,
          maxBytes: mostBytes(method, params),
        });
        checkForm(method, params, answer);
        const verdict = 'error' in answer ? judge(method, answer.error) : 'answer';
        if (verdict === 'fault') fail(begun, new NodeFault('refused', messageOf(answer)));
        else health.recovered(true);
        return { verdict, answer };
      } catch (error) {
        fail(begun, error);
        throw error;
      }
    },
    async look() {
      const begun = health.failures();
      const asksFinalized = now() >= tag.retryAt;
      const sight = await lookAtNode(transport, { chainId, timeoutMs, asksFinalized });
      if (sight.kind === 'seen' && asksFinalized) {
        tag.failures = sight.finalized === 'unknown' ? tag.failures + 1 : 0;
        if (tag.failures > 0) tag.retryAt = now() + pauseAfter(tag.failures);
      }
      if (sight.kind === 'failed') fail(begun, sight.fault);
      else if (sight.kind === 'foreign') chain.forget();
      else if (!health.healthy()) health.recovered(false);
      return sight;
    },
    async block(number) {
      const begun = health.failures();
      try {
        return await askBlock(transport, quantity(number), timeoutMs);
      } catch (error) {
        fail(begun, error);
        throw error;
      }
    },
    verifyChain: verifyShared,
    recover() {
      if (health.healthy() || recovering || now() < health.retryAt()) return;
      recovering = true;
      const begun = health.failures();
      chain
        .check()
        .then(() => health.recovered(false))
        .catch((error: unknown) => fail(begun, error))
        .finally(() => {
          recovering = false;
        });
    },
    close: () => transport.close(),
  };
}

/**
 * An oversized `eth_call` answer is no NodeFault, nor is a refusal at length, and an overfull block no failure: whoever writes
 * contracts and transactions must not take nodes out of service.
 */
async function askWithin(
  transport: Transport,
  method: string,
  params: readonly unknown[] | object,
  limits: Parameters<Transport['ask']>[2],
): Promise<RpcAnswer> {
  try {
    return await transport.ask(method, params, limits);
  } catch (error) {
    if (!(error instanceof NodeFault)) throw error;
    const isOversized = error.reason === 'oversized';
    if (isOversized && isOfRefusals(method)) return { error: longRevert(limits.maxBytes) };
    if (isOversized && method === 'eth_call') throw new OversizedAnswerError(method, error);
    if (isOversized && isOfContents(method)) throw new NodeFault('overfull', error.message, error);
    throw error;
  }
}
