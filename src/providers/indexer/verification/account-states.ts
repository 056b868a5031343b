import { Interface, type JsonRpcApiProvider } from 'ethers';
import { wordOf } from '../../../chain/words.ts';
import { bytesOf, hashOf } from '../decode/hex.ts';
import { createContractCalls } from '../tokens/contract-calls.ts';
import type { BatchedCall } from '../tokens/multicall.ts';

const abi = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function balanceOf(address, uint256) view returns (uint256)',
  'function ownerOf(uint256) view returns (address)',
]);

/** A question: an account's amount of an ERC-20 or ERC-1155, or who owns an ERC-721. */
export type StateQuestion = {
  readonly standard: 20 | 721 | 1155;
  readonly token: string;
  readonly tokenId: bigint | null;
  readonly account: string;
};

/** For an ERC-721 0 or 1; undefined where the contract fails, or answers no number. */
export type Amount = { readonly amount: bigint | undefined };

/** `delegated` accounts have the code of a delegate (EIP-7702), which their owner has chosen. */
export type AccountKind = 'person' | 'delegated' | 'contract';

/** Reads the state after a block. The hash names the block, so no reorganisation can slip in between. */
export type AccountStates = {
  /** Hash of the parent. */
  parentOf(blockHash: string): Promise<string>;
  /** An entry is undefined where nodes do not answer its call though they answer others. */
  amountsOf(holdings: readonly StateQuestion[], blockHash: string): Promise<(Amount | undefined)[]>;
  /** Returns what the accounts are after the block, or what they are now where no node has its state any more. */
  kindsOf(accounts: readonly string[], blockHash: string): Promise<ReadonlyMap<string, AccountKind>>;
};

const delegated = '0xef0100';
const accountsAtOnce = 12;

/** @throws by every function the node's error when it has no such state, or does not answer */
export function createAccountStates(node: Pick<JsonRpcApiProvider, 'send'>): AccountStates {
  const calls = createContractCalls({ node });
  const kindOf = async (account: string, blockHash: string): Promise<AccountKind> => {
    const codeAt = (state: unknown) => node.send('eth_getCode', [account, state]);
    const code = bytesOf(await codeAt({ blockHash }).catch(() => codeAt('latest')), 'code');
    if (code === '0x') return 'person';
    return code.startsWith(delegated) ? 'delegated' : 'contract';
  };

  return {
    async parentOf(blockHash) {
      const answer: unknown = await node.send('eth_getBlockByHash', [blockHash, false]);
      const parent =
        typeof answer === 'object' && answer !== null && 'parentHash' in answer && answer.parentHash;
      return hashOf(parent, 'parentHash');
    },
    async amountsOf(holdings, blockHash) {
      const words = await calls.readMany(holdings.map(questionOf), (answer) => ({ word: wordOf(answer) }), {
        blockHash,
      });
      return holdings.map((holding, place) => {
        const answer = words[place];
        return answer && { amount: amountIn(answer.word, holding) };
      });
    },
    async kindsOf(accounts, blockHash) {
      const kinds = new Map<string, AccountKind>();
      for (let start = 0; start < accounts.length; start += accountsAtOnce) {
        const some = accounts.slice(start, start + accountsAtOnce);
        await Promise.all(
          some.map(async (account) => {
            kinds.set(account, await kindOf(account, blockHash));
          }),
        );
      }
      return kinds;
    },
  };
}

function questionOf({ standard, token, tokenId, account }: StateQuestion): BatchedCall {
  const data =
    standard === 721
      ? abi.encodeFunctionData('ownerOf', [tokenId])
      : standard === 20
        ? abi.encodeFunctionData('balanceOf(address)', [account])
        : abi.encodeFunctionData('balanceOf(address,uint256)', [account, tokenId]);
  return { to: token, data };
}

function amountIn(word: bigint | undefined, { standard, account }: StateQuestion): bigint | undefined {
  if (word === undefined || standard !== 721) return word;
  return word === BigInt(account) ? 1n : 0n;
}
