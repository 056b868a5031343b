import type { JsonRpcApiProvider } from 'ethers';
import { untilAborted } from '../../../base/in-time.ts';
import { withEnd } from '../../../base/request-scope.ts';
import { type ContractCall, readContract, type StateOf } from '../../../chain/rpc/client/contract-call.ts';
import { isLimitCode } from '../../../chain/rpc/transport/answer.ts';
import { NodeFault, NodesUnavailableError } from '../../../chain/rpc/transport/node-fault.ts';
import { toOneCall } from './multicall.ts';

/** Returns the kept part of an answer. Undefined is the answer of a contract that failed. */
export type Read<T> = (answer: string | undefined) => T;

/**
 * The outcome of a call. Where nodes answered something else (`refused`) or nothing in time (`late`), the contract may
 * be the cause. A call that was late before nodes had proven that they answer proves nothing and counts as `unasked`.
 */
export type Tried<T> = { readonly value: T } | 'refused' | 'late' | 'unasked';

export type Node = Pick<JsonRpcApiProvider, 'send'>;
type RoundOptions = {
  readonly node: Node;
  readonly block: StateOf;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
};

// Below the time limit of a node's answer, so that a slow contract is no failure of the node, which others also use.
// A page of 200 calls that never end still finishes within the time of a request.
const usualMs = 2_000;

// Either nothing, or code that everybody knows: no other contract takes part in it.
const harmless = { ...toOneCall([]), gas: 1_000_000n };

/** Calls of contracts. A contract can make its call fail, whatever words nodes use, or take any time. */
export function createCallRound({ node, block, now }: RoundOptions) {
  let mostMs = usualMs;
  let doubted: Promise<number> | undefined;
  let isProven = false;

  const timeOfAnswer = async () => {
    const begun = now();
    await readContract(node, harmless, block);
    return now() - begun;
  };
  const doubt = async () => {
    doubted ??= timeOfAnswer();
    // Nodes that are slow with everything get their time.
    mostMs = Math.max(mostMs, 2 * (await doubted));
    isProven = true;
  };

  return {
    /** @throws a failure that the nodes caused */
    async ask<T>(call: ContractCall, read: Read<T>): Promise<Tried<T>> {
      const wasProven = isProven;
      try {
        return { value: read(await within(mostMs, () => readContract(node, call, block))) };
      } catch (error) {
        const failure = failureOf(error);
        if (failure === undefined) throw error;
        await doubt();
        // A node that hangs has been passed over since.
        return failure === 'late' && !wasProven ? 'unasked' : failure;
      }
    },
    /** Proves that nodes answer, so that they did not cause the failures. @throws a failure that the nodes caused */
    async confirm(): Promise<void> {
      if ((await timeOfAnswer()) > mostMs) throw new NodeFault('timeout', 'nodes are slow to answer calls');
    },
  };
}

class LateCallError extends Error {}

/** Cancels the question when its time is over, so that the node is not counted as failed. */
async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new LateCallError(`no answer to a call within ${ms} ms`)), ms);
  try {
    return await untilAborted(withEnd(end.signal, work), end.signal);
  } finally {
    clearTimeout(timer);
  }
}

function failureOf(error: unknown): 'refused' | 'late' | undefined {
  if (error instanceof LateCallError) return 'late';
  if (!(error instanceof NodesUnavailableError)) return undefined;
  const { attempts } = error;
  if (attempts.some(({ code }) => code !== undefined && !isLimitCode(code))) return 'refused';
  return attempts.length > 0 && attempts.every(({ reason }) => reason === 'timeout') ? 'late' : undefined;
}
