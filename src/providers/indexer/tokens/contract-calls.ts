import { Interface, type JsonRpcApiProvider } from 'ethers';
import { readContract } from '../../../chain/rpc/contract-call.ts';

export type ContractCall = { readonly to: string; readonly data: string };

export type ContractCalls = {
  /**
   * Calls contracts. Rejects when no node answers.
   * @param block the block after which they are called; the newest one where it is left out
   * @returns the bytes of each answer in hex; undefined where the contract failed or returned too much
   */
  readMany(calls: readonly ContractCall[], block?: Block): Promise<(string | undefined)[]>;
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

type Node = Pick<JsonRpcApiProvider, 'send'>;
type Block = bigint | 'latest';

/**
 * Batches calls where Multicall3 is deployed, otherwise sends them in parallel. A batch that fails is repeated in
 * halves and finally call by call, so that one hostile contract cannot spoil the answers of others.
 */
export function createContractCalls({ node }: { readonly node: Node }): ContractCalls {
  let deployed: Promise<boolean> | undefined;

  const hasMulticall = () => {
    deployed ??= node.send('eth_getCode', [multicallAddress, 'latest']).then(
      (code: unknown) => typeof code === 'string' && code.length > 2,
      (error: unknown) => {
        deployed = undefined;
        throw error;
      },
    );
    return deployed;
  };

  const together = async (calls: readonly ContractCall[], block: Block): Promise<(string | undefined)[]> => {
    if (calls.length < 2)
      return Promise.all(calls.map((call) => readContract(node, { ...call, gas: singleGas }, block)));
    const answers = await aggregate(node, calls, block);
    if (answers === undefined) {
      const middle = calls.length >> 1;
      return [
        ...(await together(calls.slice(0, middle), block)),
        ...(await together(calls.slice(middle), block)),
      ];
    }
    // A call may have failed because another one left no gas; on its own it shows.
    const missing = calls.filter((_, index) => answers[index] === undefined);
    const again = await sideBySide(node, missing, block);
    return answers.map((answer) => answer ?? again.shift());
  };

  return {
    async readMany(calls, block = 'latest') {
      if (!(await hasMulticall())) return sideBySide(node, calls, block);
      const answers: (string | undefined)[] = [];
      for (let start = 0; start < calls.length; start += callsAtOnce) {
        answers.push(...(await together(calls.slice(start, start + callsAtOnce), block)));
      }
      return answers;
    },
  };
}

async function sideBySide(
  node: Node,
  calls: readonly ContractCall[],
  block: Block,
): Promise<(string | undefined)[]> {
  const answers: (string | undefined)[] = [];
  for (let start = 0; start < calls.length; start += singlesAtOnce) {
    const group = calls.slice(start, start + singlesAtOnce);
    answers.push(
      ...(await Promise.all(group.map((call) => readContract(node, { ...call, gas: singleGas }, block)))),
    );
  }
  return answers;
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
  if (answer === undefined) return undefined;
  try {
    const [results] = abi.decodeFunctionResult('aggregate3', answer);
    const found: (string | undefined)[] = [...results].map(({ success, returnData }) =>
      success && returnData !== '0x' ? String(returnData) : undefined,
    );
    return found.length === calls.length ? found : undefined;
  } catch {
    return undefined; // the address has another contract
  }
}
