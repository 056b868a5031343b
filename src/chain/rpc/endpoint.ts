import type { Logger } from '../../log.ts';
import { redactUrl } from '../../log.ts';
import { judge, type RpcAnswer, type Verdict } from './answer.ts';
import { askChainId } from './chain-id.ts';
import { NodeFault } from './node-fault.ts';
import { openTransport } from './open-transport.ts';
import type { Limits } from './transport.ts';

/** One URL of a network, and what we think of its health. */
export type Endpoint = {
  /** The URL without what may be secret in it. */
  readonly label: string;
  /** False from a failure until an answer; a sick one is used only when no other is left. */
  healthy(): boolean;
  /** Milliseconds of the clock; before this time a sick one is left alone. */
  retryAt(): number;
  /**
   * Asks once, after making sure that the node serves the network's chain.
   * @throws NodeFault after noting the failure; `oversized` alone leaves the health as it was
   */
  ask(method: string, params: readonly unknown[] | object): Promise<Judged>;
  /** Looks in the background whether a sick node that has rested is well again. */
  recover(): void;
  close(): void;
};

export type Judged = { readonly verdict: Verdict; readonly answer: RpcAnswer };

type EndpointOptions = {
  readonly url: string;
  readonly chainId: string;
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly now: () => number;
};

const shortestPause = 1_000;
const longestPause = 60_000;

export function createEndpoint({ url, chainId, timeoutMs, log, now }: EndpointOptions): Endpoint {
  const label = redactUrl(url);
  const transport = openTransport(url);
  const state = { healthy: true, failures: 0, retryAt: 0 };
  // Asked once and again after each failure: the node behind a URL may have been exchanged meanwhile.
  let verification: Promise<void> | undefined;
  let recovering = false;

  // Calls that failed together are one failure: only the first of them finds its own state.
  const noteFailure = (seen: number, reason: string, message: string) => {
    if (seen !== state.failures) return;
    verification = undefined;
    state.healthy = false;
    state.failures += 1;
    const pauseMs = reason === 'wrong_chain' ? longestPause : pauseAfter(state.failures);
    state.retryAt = now() + pauseMs;
    log.warn({ url: label, chainId, reason, detail: message, pauseMs }, 'node failed');
  };

  const noteSuccess = () => {
    if (!state.healthy) log.info({ url: label, chainId }, 'node is back');
    state.healthy = true;
    state.failures = 0;
  };

  const verify = async (): Promise<void> => {
    const served = await askChainId(transport, timeoutMs);
    if (served !== BigInt(chainId)) {
      throw new NodeFault('wrong_chain', `the node serves chain ${served}, not ${chainId}`);
    }
  };
  const verified = () => {
    if (verification !== undefined) return verification;
    const current = verify().catch((error: unknown) => {
      if (verification === current) verification = undefined;
      throw error;
    });
    verification = current;
    return current;
  };

  const ask = async (method: string, params: readonly unknown[] | object): Promise<Judged> => {
    const seen = state.failures;
    try {
      await verified();
      const answer = await transport.ask(method, params, limitsOf(method, timeoutMs));
      const verdict = 'error' in answer ? judge(method, answer.error) : 'answer';
      if (verdict === 'fault' && 'error' in answer) noteFailure(seen, 'refused', answer.error.message);
      else noteSuccess();
      return { verdict, answer };
    } catch (error) {
      if (error instanceof NodeFault && !isContractsDoing(method, error)) {
        noteFailure(seen, error.reason, error.message);
      }
      throw error;
    }
  };

  return {
    label,
    healthy: () => state.healthy,
    retryAt: () => state.retryAt,
    ask,
    recover() {
      if (state.healthy || recovering || now() < state.retryAt) return;
      recovering = true;
      const seen = state.failures;
      verified()
        // The count stays until a real answer, so a node that only knows its chain rests ever longer.
        .then(() => {
          state.healthy = true;
        })
        .catch((error: unknown) => {
          if (error instanceof NodeFault) noteFailure(seen, error.reason, error.message);
        })
        .finally(() => {
          recovering = false;
        });
    },
    close: () => transport.close(),
  };
}

function pauseAfter(failures: number): number {
  return Math.min(shortestPause * 2 ** Math.min(failures - 1, 10), longestPause);
}

// A contract chooses the size of its answer; blocks with their receipts may be large indeed.
const contractBytes = 512 * 1024;
const nodeBytes = 64 * 1024 * 1024;

function limitsOf(method: string, timeoutMs: number): Limits {
  return { timeoutMs, maxBytes: method === 'eth_call' ? contractBytes : nodeBytes };
}

/** A hostile contract must not be able to take a network's nodes out of service. */
export function isContractsDoing(method: string, fault: NodeFault): boolean {
  return method === 'eth_call' && fault.reason === 'oversized';
}
