import { Interface, type JsonRpcApiProvider } from 'ethers';
import { readContract } from '../../../chain/rpc/client/contract-call.ts';
import { wordOf } from '../../../chain/words.ts';
import type { RawReceipt } from '../decode/raw-block.ts';
import { topics } from '../decode/topics.ts';

const abi = new Interface([
  'function decimals() view returns (uint8)',
  'function supportsInterface(bytes4) view returns (bool)',
]);
const questions = [
  abi.encodeFunctionData('decimals'),
  abi.encodeFunctionData('supportsInterface', ['0x80ac58cd']), // ERC-721
] as const;
const gas = 1_000_000n;

const isTransferOrApproval = (topic: string | undefined) =>
  topic === topics.transfer || topic === topics.approval;

// As long as a collection moves tokens. Fewer collections do so on any day.
const mostKnown = 50_000;

/**
 * Finds the ERC-20 contracts with an indexed value among contracts that log like an ERC-721. They have decimals, and
 * do not say that they are ERC-721. Each contract is asked once. A contract that cannot be asked counts as an
 * ERC-721.
 */
export function createIndexedValues(node: Pick<JsonRpcApiProvider, 'send'>) {
  const known = new Map<string, Promise<boolean>>();

  const isErc20 = async (to: string): Promise<boolean> => {
    const [decimals, isNft] = await Promise.all(
      questions.map(async (data) => wordOf((await readContract(node, { to, data, gas }, 'latest')) ?? '0x')),
    );
    return decimals !== undefined && decimals < 256n && isNft !== 1n;
  };
  const ask = (contract: string): Promise<boolean> => {
    const asked = isErc20(contract).catch(() => {
      known.delete(contract);
      return false;
    });
    if (known.size >= mostKnown) known.clear();
    known.set(contract, asked);
    return asked;
  };

  return async (receipts: readonly RawReceipt[]): Promise<ReadonlySet<string>> => {
    const contracts = new Set(
      receipts
        .flatMap(({ logs }) => logs)
        .filter(({ topics: of, data }) => of.length === 4 && data === '0x' && isTransferOrApproval(of[0]))
        .map(({ address }) => address),
    );
    const found = await Promise.all(
      [...contracts].map(async (contract) => ({
        contract,
        isErc20: await (known.get(contract) ?? ask(contract)),
      })),
    );
    return new Set(found.flatMap(({ contract, isErc20: is }) => (is ? [contract] : [])));
  };
}
