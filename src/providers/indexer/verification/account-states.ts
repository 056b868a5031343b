import { Interface, type JsonRpcApiProvider } from 'ethers';
import { wordOf } from '../../../chain/words.ts';
import type { Approval } from '../decode/domain.ts';
import { bytesOf, hashOf } from '../decode/hex.ts';
import { createContractCalls } from '../tokens/contract-calls.ts';
import type { BatchedCall } from '../tokens/multicall.ts';

const abi = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function balanceOf(address, uint256) view returns (uint256)',
  'function ownerOf(uint256) view returns (address)',
  'function allowance(address, address) view returns (uint256)',
  'function getApproved(uint256) view returns (address)',
  'function isApprovedForAll(address, address) view returns (bool)',
]);

/** A question: an account's amount of an ERC-20 or ERC-1155, or who owns an ERC-721. */
export type StateQuestion = {
  readonly standard: 20 | 721 | 1155;
  readonly token: string;
  readonly tokenId: bigint | null;
  readonly account: string;
};

/** A question about what an owner has approved. */
type ApprovalQuestion = Pick<Approval, 'token' | 'owner' | 'spender' | 'kind' | 'value'>;

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
  /** Returns whether contracts confirm approvals; an entry is undefined where nodes do not answer its call. */
  confirmationsOf(
    approvals: readonly ApprovalQuestion[],
    blockHash: string,
  ): Promise<(boolean | undefined)[]>;
  /** Returns what the accounts are after the block, or what they are now where no node has its state any more. */
  kindsOf(accounts: readonly string[], blockHash: string): Promise<ReadonlyMap<string, AccountKind>>;
};

const delegated = '0xef0100';
const accountsAtOnce = 12;
// The code of a contract stays. Most transfers of a block are of contracts that were in an earlier block too.
const mostContracts = 50_000;

/** @throws by every function the node's error when it has no such state, or does not answer */
export function createAccountStates(node: Pick<JsonRpcApiProvider, 'send'>): AccountStates {
  const calls = createContractCalls({ node });
  const contracts = new Set<string>();
  const kindOf = async (account: string, blockHash: string): Promise<AccountKind> => {
    if (contracts.has(account)) return 'contract';
    const codeAt = (state: unknown) => node.send('eth_getCode', [account, state]);
    const code = bytesOf(await codeAt({ blockHash }).catch(() => codeAt('latest')), 'code');
    if (code === '0x') return 'person';
    if (code.toLowerCase().startsWith(delegated)) return 'delegated';
    if (contracts.size >= mostContracts) contracts.clear();
    contracts.add(account);
    return 'contract';
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
    async confirmationsOf(approvals, blockHash) {
      const words = await calls.readMany(
        approvals.map(confirmationOf),
        (answer) => ({ word: wordOf(answer) }),
        { blockHash },
      );
      return approvals.map((approval, place) => {
        const answer = words[place];
        return answer && isConfirmed(approval, answer.word);
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

function confirmationOf({ kind, token, owner, spender, value }: ApprovalQuestion): BatchedCall {
  const data =
    kind === 'token'
      ? abi.encodeFunctionData('getApproved', [value])
      : abi.encodeFunctionData(kind === 'amount' ? 'allowance' : 'isApprovedForAll', [owner, spender]);
  return { to: token, data };
}

/** A part of an approved amount may have been used. */
function isConfirmed({ kind, spender, value }: ApprovalQuestion, word: bigint | undefined): boolean {
  if (word === undefined) return false;
  if (kind === 'token') return word === BigInt(spender);
  return word <= value && (word > 0n || value === 0n);
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
