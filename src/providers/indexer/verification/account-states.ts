import { Interface, type JsonRpcApiProvider } from 'ethers';
import { wordOf } from '../../../chain/words.ts';
import { hashOf } from '../decode/hex.ts';
import type { BatchedCall } from '../tokens/multicall.ts';
import { readSingly } from '../tokens/single-calls.ts';

const abi = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function balanceOf(address, uint256) view returns (uint256)',
  'function ownerOf(uint256) view returns (address)',
]);

/** What is asked about: an account's amount of an ERC-20 or ERC-1155, or who owns an ERC-721. */
type Holding = {
  readonly standard: 20 | 721 | 1155;
  readonly token: string;
  readonly tokenId: bigint | null;
  readonly account: string;
};

/** The state after a block that is named by its hash, so that no reorganisation can slip in between. */
export type AccountStates = {
  /** Hash of the parent; undefined for a block that the node does not have. */
  parentOf(blockHash: string): Promise<string | undefined>;
  /**
   * The amount, for an ERC-721 0 or 1; undefined where the contract does not say, or nodes do not answer its call though they answer
   * others.
   */
  amountOf(holding: Holding, blockHash: string): Promise<bigint | undefined>;
  amountsOf(holdings: readonly Holding[], blockHash: string): Promise<(bigint | undefined)[]>;
  /** Whether nobody else's code can act for the account: it has none, or a delegate of its own (EIP-7702). */
  isPerson(account: string, blockHash: string): Promise<boolean>;
};

const delegated = '0xef0100';

/** @throws by every function what the node answers when it has no such state, or nothing */
export function createAccountStates(node: Pick<JsonRpcApiProvider, 'send'>): AccountStates {
  const amountsOf: AccountStates['amountsOf'] = async (holdings, blockHash) => {
    const words = await readSingly(node, holdings.map(questionOf), wordOf, { blockHash });
    return holdings.map((holding, place) => amountIn(words[place], holding));
  };

  return {
    async parentOf(blockHash) {
      const answer: unknown = await node.send('eth_getBlockByHash', [blockHash, false]);
      if (answer === null || typeof answer !== 'object') return undefined;
      return 'parentHash' in answer ? hashOf(answer.parentHash, 'parentHash') : undefined;
    },
    amountOf: async (holding, blockHash) => (await amountsOf([holding], blockHash))[0],
    amountsOf,
    async isPerson(account, blockHash) {
      const code: unknown = await node.send('eth_getCode', [account, { blockHash }]);
      return code === '0x' || (typeof code === 'string' && code.startsWith(delegated));
    },
  };
}

function questionOf({ standard, token, tokenId, account }: Holding): BatchedCall {
  const data =
    standard === 721
      ? abi.encodeFunctionData('ownerOf', [tokenId])
      : standard === 20
        ? abi.encodeFunctionData('balanceOf(address)', [account])
        : abi.encodeFunctionData('balanceOf(address,uint256)', [account, tokenId]);
  return { to: token, data };
}

function amountIn(word: bigint | undefined, { standard, account }: Holding): bigint | undefined {
  if (word === undefined || standard !== 721) return word;
  return word === BigInt(account) ? 1n : 0n;
}
