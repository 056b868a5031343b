import { inBackground } from '../../../base/request-scope.ts';
import { isLimitCode, messageOf } from './answer.ts';
import { numberBytes } from './answer-size.ts';
import { NodeFault } from './node-fault.ts';
import { readQuantity } from './quantity.ts';
import type { Transport } from './transport.ts';

type ChainOptions = { readonly transport: Transport; readonly chainId: string; readonly timeoutMs: number };

/** Verifies that a node serves this chain. @throws NodeFault, `wrong_chain` when it does not */
export async function checkChainId({ transport, chainId, timeoutMs }: ChainOptions): Promise<void> {
  const served = await askQuantity(transport, 'eth_chainId', timeoutMs);
  if (served !== BigInt(chainId)) {
    throw new NodeFault('wrong_chain', `the node serves chain ${served}, not ${chainId}`);
  }
}

// A changed load balancer can make a URL serve another chain without a failure in between.
const checkEveryMs = 5 * 60_000;
const freshMs = 30_000;

/** {@link checkChainId} with a cached outcome: repeated every five minutes, and after `forget`. */
export function createChainCheck({ now, ...options }: ChainOptions & { readonly now: () => number }) {
  let checked: { readonly at: number; readonly outcome: Promise<void> } | undefined;
  return {
    check(): Promise<void> {
      if (checked === undefined || now() - checked.at >= checkEveryMs) {
        const outcome = inBackground(() => checkChainId(options));
        checked = { at: now(), outcome };
        outcome.catch(() => {
          if (checked?.outcome === outcome) checked = undefined;
        });
      }
      return checked.outcome;
    },
    /** Takes what another question has shown just now. */
    isRight() {
      checked = { at: now(), outcome: Promise.resolve() };
    },
    /** Whether it was seen so lately that a node that limits questions is not asked again. */
    isFresh: () => checked !== undefined && now() - checked.at < freshMs,
    forget() {
      checked = undefined;
    },
  };
}

/** Queries a number. @throws NodeFault, also when the node answers with an error: every node supports these methods */
export async function askQuantity(transport: Transport, method: string, timeoutMs: number): Promise<bigint> {
  const answer = await transport.ask(method, [], { timeoutMs, maxBytes: numberBytes, isPatient: true });
  if ('error' in answer) {
    const reason = isLimitCode(answer.error.code) ? 'limited' : 'refused';
    throw new NodeFault(reason, `${method}: ${messageOf(answer)}`);
  }
  const value = readQuantity(answer.result);
  if (value === undefined) throw new NodeFault('malformed', `${method} answers no number`);
  return value;
}
