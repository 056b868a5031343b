import pLimit from 'p-limit';
import type { StateOf } from '../../../chain/rpc/client/contract-call.ts';
import { createCallRound, type Node, type Read, type Tried } from './call-round.ts';
import { type BatchedCall, multicallAddress, readResults, toOneCall } from './multicall.ts';

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

type CallRound = ReturnType<typeof createCallRound>;

const callsAtOnce = 60;
const singlesAtOnce = 48;
// A hostile contract may burn all its gas.
const gas = 5_000_000n;
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
 * Batches calls where Multicall3 is deployed, otherwise sends them one by one. The calls of a batch that fails are
 * sent one by one too, so one hostile contract cannot spoil the answers of others.
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
      const batches = (await hasMulticall()) ? inBatches(calls) : calls.map((call) => [call]);
      const tried = await Promise.all(batches.map((batch) => askTogether(round, batch, read)));
      return settle(round, calls, read, tried.flat());
    },
  };
}

function inBatches(calls: readonly BatchedCall[]): readonly BatchedCall[][] {
  const count = Math.ceil(calls.length / callsAtOnce);
  return Array.from({ length: count }, (_, place) =>
    calls.slice(place * callsAtOnce, (place + 1) * callsAtOnce),
  );
}

/** Asks some calls as one. A call may fail because another call left no gas. A call on its own shows it. */
async function askTogether<T>(
  round: CallRound,
  calls: readonly BatchedCall[],
  read: Read<T>,
): Promise<Tried<T>[]> {
  if (calls.length < 2) return calls.map(() => 'unasked');
  const asked = await round.ask({ ...toOneCall(calls), gas: manyGas }, (answer) =>
    answer === undefined ? undefined : readResults(answer, calls.length),
  );
  const answers = typeof asked === 'string' ? undefined : asked.value;
  return calls.map((_, place) => {
    const own = answers?.[place];
    return own === undefined ? 'unasked' : { value: read(own) };
  });
}

/**
 * Sends open calls one by one, and rejected calls once more. Makes sure that nodes answer at all.
 * @throws a failure that the nodes caused
 */
async function settle<T>(
  round: CallRound,
  calls: readonly BatchedCall[],
  read: Read<T>,
  tried: readonly Tried<T>[],
): Promise<(T | undefined)[]> {
  const settled = [...tried];
  const few = pLimit(singlesAtOnce);
  const askAll = (which: Tried<T>) =>
    Promise.all(
      calls.map(async (call, place) => {
        if (settled[place] === which) settled[place] = await few(() => round.ask({ ...call, gas }, read));
      }),
    );
  await askAll('unasked');
  // Calls that were late before nodes had proven that they answer.
  await askAll('unasked');
  await askAll('refused');
  if (settled.some((one) => typeof one === 'string')) await round.confirm();
  return settled.map((one) => (typeof one === 'string' ? undefined : one.value));
}
