import { Interface, type JsonRpcApiProvider } from 'ethers';
import { readContract } from '../../../chain/rpc/contract-call.ts';
import { bytesAt, lengthAt } from '../../../chain/words.ts';

export type ContractCall = { readonly to: string; readonly data: string };

export type ContractCalls = {
  /**
   * Calls contracts. Rejects when no node answers.
   * @param read makes of an answer, its bytes in hex, what is kept of it, as soon as it is there: it may have half a megabyte.
   *   It is undefined where the contract failed or returned too much
   * @param block the block after which they are called; the newest one where it is left out
   */
  readMany<T>(
    calls: readonly ContractCall[],
    read: (answer: string | undefined) => T,
    block?: Block,
  ): Promise<T[]>;
};

/** The same address on every network that has it. */
export const multicallAddress = '0xca11bde05977b3631167028862be2a173976ca11';

const abi = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) view returns ((bool success, bytes returnData)[])',
]);

const callsAtOnce = 60;
const singlesAtOnce = 12;
// A hostile contract may burn all its gas; the batch must still end within the node's own limit.
const singleGas = 5_000_000n;
const manyGas = 30_000_000n;

// That there is none may be what a node says that lags.
const askAgainMs = 10 * 60_000;

type Node = Pick<JsonRpcApiProvider, 'send'>;
type CallsOptions = {
  readonly node: Node;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
};
type Block = bigint | 'latest';
type Read<T> = (answer: string | undefined) => T;
type Found<T> = { readonly value: T };

const valuesOf = <T>(found: readonly Found<T>[]): T[] => found.map(({ value }) => value);

/**
 * Batches calls where Multicall3 is deployed, otherwise sends them in parallel. A batch that fails is repeated in
 * halves and finally call by call, so that one hostile contract cannot spoil the answers of others.
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

  const together = async <T>(
    calls: readonly ContractCall[],
    read: Read<T>,
    block: Block,
  ): Promise<Found<T>[]> => {
    if (calls.length < 2) return sideBySide(node, calls, read, block);
    const answers = await aggregate(node, calls, block);
    if (answers === undefined) {
      const middle = calls.length >> 1;
      return [
        ...(await together(calls.slice(0, middle), read, block)),
        ...(await together(calls.slice(middle), read, block)),
      ];
    }
    const found = answers.map((answer) => (answer === undefined ? undefined : { value: read(answer) }));
    // A call may have failed because another one left no gas; on its own it shows.
    const missing = calls.filter((_, index) => found[index] === undefined);
    const again = await sideBySide(node, missing, read, block);
    return found.flatMap((one) => one ?? again.shift() ?? []);
  };

  return {
    async readMany(calls, read, block = 'latest') {
      if (!(await hasMulticall())) return valuesOf(await sideBySide(node, calls, read, block));
      const found: Found<ReturnType<typeof read>>[] = [];
      for (let start = 0; start < calls.length; start += callsAtOnce) {
        found.push(...(await together(calls.slice(start, start + callsAtOnce), read, block)));
      }
      return valuesOf(found);
    },
  };
}

async function sideBySide<T>(
  node: Node,
  calls: readonly ContractCall[],
  read: Read<T>,
  block: Block,
): Promise<Found<T>[]> {
  const found: Found<T>[] = [];
  const ask = async (call: ContractCall) => ({
    value: read(await readContract(node, { ...call, gas: singleGas }, block)),
  });
  for (let start = 0; start < calls.length; start += singlesAtOnce) {
    found.push(...(await Promise.all(calls.slice(start, start + singlesAtOnce).map(ask))));
  }
  return found;
}

/** @returns undefined when the batch failed; an entry is undefined when its call failed */
async function aggregate(
  node: Node,
  calls: readonly ContractCall[],
  block: Block,
): Promise<(string | undefined)[] | undefined> {
  const requests = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
  const data = abi.encodeFunctionData('aggregate3', [requests]);
  const answer = await readContract(node, { to: multicallAddress, data, gas: manyGas }, block);
  return answer === undefined ? undefined : readResults(answer, calls.length);
}

const word = 32;

/**
 * Cuts the answers out of what `aggregate3` returns, where ethers would take all of it apart byte by byte.
 * @returns undefined for anything else: the address may have another contract
 */
function readResults(data: string, count: number): (string | undefined)[] | undefined {
  const list = lengthAt(data, 0);
  if (list === undefined || lengthAt(data, list) !== count) return undefined;
  const found: (string | undefined)[] = [];
  let digits = 0;
  for (let place = 1; place <= count; place += 1) {
    const result = lengthAt(data, list + place * word);
    const start = result === undefined ? undefined : list + word + result;
    const succeeded = start === undefined ? undefined : lengthAt(data, start);
    const offset = start === undefined ? undefined : lengthAt(data, start + word);
    const bytes = start === undefined || offset === undefined ? undefined : bytesAt(data, start + offset);
    if (succeeded === undefined || bytes === undefined) return undefined;
    digits += bytes.length;
    // Answers that share their bytes could be many times as long as all of it.
    if (digits > data.length) return undefined;
    found.push(succeeded !== 0 && bytes !== '' ? `0x${bytes}` : undefined);
  }
  return found;
}
