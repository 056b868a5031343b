import type { Logger } from '../../../base/log.ts';
import { inBackground } from '../../../base/request-scope.ts';
import type { Outgoing } from '../../../outgoing/outgoing.ts';
import { type AnswerVerdict, isOfEveryNode, judgeError, type RpcAnswer } from './answer.ts';
import { checkForm } from './answer-form.ts';
import { isOfContents, mostBytesOf } from './answer-size.ts';
import { checkChainId, createChainCheck } from './chain-id.ts';
import { createHealth, type Health, pauseAfter } from './health.ts';
import { type FaultReason, NodeFault, OversizedAnswerError } from './node-fault.ts';
import { askBlock, type HeadBlock, lookAtNode, type Sight } from './node-look.ts';
import { openTransport } from './open-transport.ts';
import { createPacedTransport } from './paced-transport.ts';
import { quantity } from './quantity.ts';
import type { Transport } from './transport.ts';

/** One URL of a network, with its health. */
export type RpcEndpoint = {
  /** The URL without credentials and other parts that may be secret. */
  readonly label: string;
  readonly health: Pick<Health, 'healthy' | 'retryAt'>;
  /**
   * Sends one request, after verifying that the node serves the network's chain. A result is of the kind that its
   * method has.
   * @throws NodeFault after recording the failure, except for an overfull block; OversizedAnswerError when a contract
   *   returns too much
   */
  ask(method: string, params: readonly unknown[] | object, how?: How): Promise<JudgedAnswer>;
  /** Records that the node answered with an error what another node answers and every node should. */
  setAside(words: string): void;
  /** Whether the node limits questions, so that the next one would have to wait. */
  isWaiting(): boolean;
  /** Polls the node, whether it is healthy or not. Never rejects; what it shows counts for the health. */
  look(): Promise<Sight>;
  /** The block with this number on the node's chain; null when it has none. @throws NodeFault */
  block(number: bigint): Promise<HeadBlock | null>;
  /** Verifies from now on that the node serves the network's chain, once for all callers of that time. @throws NodeFault */
  verifyChain(): Promise<void>;
  close(): void;
};

type How = {
  /** Waits for a node that is asked too much. */
  readonly isPatient?: boolean;
};

export type JudgedAnswer = { readonly verdict: AnswerVerdict; readonly answer: RpcAnswer };

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

// That no turn came says nothing of the node, nor does what others have put into a block. One that limits questions works.
const saysNothing = new Set<FaultReason>(['busy', 'overfull', 'limited']);

// A plan without a method may answer it by an HTTP status, as others do by an error, which says nothing of other methods.
const isOfMethod = (error: unknown) =>
  error instanceof NodeFault && error.status !== undefined && error.status >= 400 && error.status < 500;

// One error may be an accident.
const refusalsOfTag = 3;

export function createRpcEndpoint(options: EndpointOptions): RpcEndpoint {
  const { url, label, unread, chainId, timeoutMs, outgoing, log, now } = options;
  const opened = openTransport(url, { outgoing, label: `${chainId} ${label}`, unread });
  const transport = createPacedTransport(opened, now);
  const health = createHealth({ label, chainId, log, now });
  const chain = createChainCheck({ transport, chainId, timeoutMs, now });
  // A node that cannot say what is final would cost every poll its timeout.
  const tag = { failures: 0, refusals: 0, retryAt: 0, isKnown: false };
  /** @returns what the node says, with errors that last taken for a node that does not know the tag */
  const judgeTag = (sight: Extract<Sight, { kind: 'seen' }>): typeof sight => {
    const { finalized } = sight;
    if (typeof finalized === 'bigint') tag.isKnown = true;
    const isFailure = finalized === 'unknown' || finalized === 'refused';
    tag.refusals = finalized === 'refused' ? tag.refusals + 1 : 0;
    const isUnsupported = !tag.isKnown && tag.refusals >= refusalsOfTag;
    tag.failures = isFailure && !isUnsupported ? tag.failures + 1 : 0;
    if (tag.failures > 0) tag.retryAt = now() + pauseAfter(tag.failures);
    if (isUnsupported) return { ...sight, finalized: 'unsupported' };
    return finalized === 'refused' ? { ...sight, finalized: 'unknown' } : sight;
  };

  const fail = (begun: number, error: unknown) => {
    if (!(error instanceof NodeFault) || saysNothing.has(error.reason)) return;
    chain.forget();
    if (error.reason !== 'shut') health.failed(begun, error.reason, error.message);
  };

  const verify = async () => {
    try {
      await checkChainId({ transport, chainId, timeoutMs });
      chain.isRight();
    } catch (error) {
      chain.forget();
      throw error;
    }
  };
  const verifyShared = shareNext(() => inBackground(verify));
  // The chain id would take half of what a node that limits questions allows.
  const isSpared = () => transport.isPaced() && chain.isFresh();

  return {
    label,
    health,
    isWaiting: transport.isWaiting,
    setAside: (words) => fail(health.failures(), new NodeFault('refused', words)),
    async ask(method, params, { isPatient = false } = {}) {
      const begun = health.failures();
      let isChainKnown = false;
      try {
        await chain.check();
        isChainKnown = true;
        const answer = await askWithin(transport, method, params, {
          timeoutMs,
          maxBytes: mostBytesOf(method),
          isPatient,
        });
        checkForm(method, params, answer);
        const verdict = 'error' in answer ? judgeError(method, answer.error) : 'answer';
        if (verdict !== 'limited') health.recovered(true);
        return { verdict, answer };
      } catch (error) {
        if (!(isChainKnown && isOfMethod(error)) || isOfEveryNode(method, params)) fail(begun, error);
        throw error;
      }
    },
    async look() {
      const begun = health.failures();
      const asksFinalized = now() >= tag.retryAt;
      const asksChainId = !isSpared();
      const sight = await lookAtNode(transport, { chainId, timeoutMs, asksFinalized, asksChainId });
      if (sight.kind === 'seen' && asksChainId) chain.isRight();
      if (sight.kind === 'failed') fail(begun, sight.fault);
      else if (sight.kind === 'foreign' && !health.healthy())
        fail(
          begun,
          new NodeFault('wrong_chain', `the node serves chain ${sight.servedChainId}, not ${chainId}`),
        );
      else if (sight.kind === 'foreign') chain.forget();
      else if (!health.healthy()) health.recovered(false);
      return sight.kind === 'seen' && asksFinalized ? judgeTag(sight) : sight;
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
    verifyChain: () => (isSpared() ? Promise.resolve() : verifyShared()),
    close: () => transport.close(),
  };
}

/**
 * An oversized `eth_call` answer is no NodeFault, and an overfull block no failure: authors of contracts and
 * transactions must not take nodes out of service.
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
    if (isOversized && method === 'eth_call') throw new OversizedAnswerError(method, error);
    if (isOversized && isOfContents(method)) throw new NodeFault('overfull', error.message, error);
    throw error;
  }
}

/** Runs the work once more after the run that is under way, for all callers that have asked since the run began. */
function shareNext(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (running === undefined) return begin();
    next ??= running.then(begin, begin);
    return next;
  };
}
