import type { StateOf } from '../../../chain/rpc/client/contract-call.ts';
import { type CallRound, createCallRound, type Node } from './call-round.ts';
import { type BatchedCall, multicallAddress, readResults, toOneCall } from './multicall.ts';
import { type Read, settleCalls, type Tried } from './single-calls.ts';

export type ContractCalls = {
  /**
   * Calls contracts. Rejects when no node answers.
   * @param read returns the part of an answer, its bytes in hex, that is kept. It runs as soon as the answer arrives,
   * because an answer may have half a megabyte. Undefined means that the contract failed or returned too much
   * @param block the block after which they are called; the newest block where it is left out
   * @returns an entry is undefined where nodes do not answer the call, though they answer others. The contract may be
   * the cause, or nodes that answer later
   */
  readMany<T>(calls: readonly BatchedCall[], read: Read<T>, block?: StateOf): Promise<(T | undefined)[]>;
};

const callsAtOnce = 60;
// A hostile contract may burn all its gas; the batch must still end within the node's own limit.
const manyGas = 30_000_000n;

// A node that lags may report that there is none.
const askAgainMs = 10 * 60_000;

type CallsOptions = {
  readonly node: Node;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
};

/**
 * Batches calls where Multicall3 is deployed, otherwise sends them in parallel. A batch that fails is repeated in
 * halves and finally call by call, so one hostile contract cannot spoil the answers of others. Where that takes long,
 * the remaining calls are sent one by one at once.
 */
export function createContractCalls({ node, now = () => performance.now() }: CallsOptions): ContractCalls {
  let deployed: Promise<boolean> | undefined;
  let askAgainAt = Number.POSITIVE_INFINITY;

  const askForMulticall = async () => {
    try {
      const code: unknown = await node.send('eth_getCode', [multicallAddress, 'latest']);
      const hasCode = typeof code === 'string' && code.length > 2;
      askAgainAt = hasCode ? Number.POSITIVE_INFINITY : now() + askAgainMs;
      return hasCode;
    } catch (error) {
      deployed = undefined;
      throw error;
    }
  };
  const hasMulticall = () => {
    if (now() >= askAgainAt) {
      deployed = undefined;
      askAgainAt = Number.POSITIVE_INFINITY;
    }
    deployed ??= askForMulticall();
    return deployed;
  };

  return {
    async readMany(calls, read, block = 'latest') {
      const round = createCallRound({ node, block, now });
      if (!(await hasMulticall())) return settleCalls(round, calls, read, unasked(calls));
      const tried: Tried<ReturnType<typeof read>>[] = [];
      for (let start = 0; start < calls.length; start += callsAtOnce) {
        tried.push(...(await together(round, calls.slice(start, start + callsAtOnce), read)));
      }
      return settleCalls(round, calls, read, tried);
    },
  };
}

const unasked = (calls: readonly BatchedCall[]) => calls.map(() => 'unasked' as const);

async function together<T>(
  round: CallRound,
  calls: readonly BatchedCall[],
  read: Read<T>,
): Promise<Tried<T>[]> {
  if (calls.length < 2 || round.isHurried()) return unasked(calls);
  const asked = await round.ask({ ...toOneCall(calls), gas: manyGas });
  const answer = typeof asked === 'string' ? undefined : asked.answer;
  const answers = answer === undefined ? undefined : readResults(answer, calls.length);
  // A call may have failed because another call left no gas. A call on its own shows it.
  if (answers !== undefined)
    return answers.map((own) => (own === undefined ? 'unasked' : { value: read(own) }));
  const middle = calls.length >> 1;
  return [
    ...(await together(round, calls.slice(0, middle), read)),
    ...(await together(round, calls.slice(middle), read)),
  ];
}
