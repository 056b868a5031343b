import { getAddress, type JsonRpcApiProvider } from 'ethers';
import { z } from 'zod';
import { isZeroAddress } from '../address.ts';
import { callContract } from '../rpc/client/contract-call.ts';
import { OversizedAnswerError } from '../rpc/transport/node-fault.ts';
import { quantity } from '../rpc/transport/quantity.ts';
import { addressShape, blockNumberShape, bytesShape, quantityShape, wordShape } from './answer-shapes.ts';
import type { BlockRange } from './log-scan.ts';
import { encodeOwnerOf, type Mint, mintTopics } from './mint-contract.ts';
import { readTransfers, type Transfer } from './transfer-logs.ts';

/** A token that the chain knows, by the event of its mint. */
export type MintEvent = Mint & {
  /** Of the transaction. */
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
};

/** A transaction that any account sent. */
export type SentTransaction = {
  /** EIP-55. */
  readonly from: string;
  readonly nonce: bigint;
  /** The data of its call, as hex. */
  readonly data: string;
};

/** A contract answered what no contract of its kind answers. It says nothing of the node. */
export class ContractNonsenseError extends Error {
  constructor(contract: string, method: string, cause?: unknown) {
    super(`${contract} answers ${method} with what is no answer to it.`, { cause });
    this.name = 'ContractNonsenseError';
  }
}

/** The questions that show what became of a token. A question without an answer rejects. */
export type EvidenceNode = {
  /**
   * The owner at a block, in EIP-55; null when the contract reverts or names the zero address, which both mean that
   * there is none.
   * @throws ContractNonsenseError when the answer is no address
   */
  ownerOf(contract: string, tokenId: string, at: bigint): Promise<string | null>;
  /** The mints in these blocks, in the order of the chain: of these tokens, or of all when none are named. */
  mintsIn(contract: string, range: BlockRange, tokenIds?: readonly string[]): Promise<readonly MintEvent[]>;
  /** What was sent; null when the node does not know the transaction. */
  transaction(hash: string): Promise<SentTransaction | null>;
  /** The block that a transaction is in; null when the node does not know one. */
  blockOf(hash: string): Promise<{ readonly number: bigint; readonly hash: string } | null>;
  /** Whether the contract has code at a block. */
  hasCode(contract: string, at: bigint): Promise<boolean>;
  /** What is at an address that is to mint, at a block. */
  lookAt(contract: string, at: bigint): Promise<ContractLook>;
};

/**
 * What is at an address that is to mint:
 * - `no_code`: no contract;
 * - `nonsense`: a contract that answers who owns a token that does not exist with what is no such answer;
 * - `contract`: anything else.
 */
export type ContractLook = 'no_code' | 'nonsense' | 'contract';

// The highest token id. Neither our contract nor the common libraries give it.
const tokenThatIsNot = (2n ** 256n - 1n).toString();

const sentShape = z.object({ from: addressShape, nonce: quantityShape, input: bytesShape }).nullable();
const placeShape = z
  .object({ blockNumber: blockNumberShape.nullish(), blockHash: wordShape.nullish() })
  .nullable();

export function createEvidenceNode(provider: JsonRpcApiProvider): EvidenceNode {
  return {
    ownerOf: (contract, tokenId, at) => ownerOf(provider, contract, tokenId, at),
    async mintsIn(contract, range, tokenIds) {
      const transfers = await readTransfers(provider, [contract], range, mintTopics(tokenIds));
      // What a node adds to the question is no answer to it.
      const isAsked = ({ from, tokenId }: Transfer) =>
        isZeroAddress(from) && tokenIds?.includes(tokenId) !== false;
      return transfers
        .filter(isAsked)
        .map(({ to: recipient, tokenId, transactionHash: hash, blockNumber, blockHash }) => ({
          recipient,
          tokenId,
          hash,
          blockNumber,
          blockHash,
        }));
    },
    async transaction(hash) {
      const sent = sentShape.parse(await provider.send('eth_getTransactionByHash', [hash]));
      return sent && { from: sent.from, nonce: sent.nonce, data: sent.input };
    },
    async blockOf(hash) {
      const found = placeShape.parse(await provider.send('eth_getTransactionByHash', [hash]));
      if (found?.blockNumber == null || found.blockHash == null) return null;
      return { number: found.blockNumber, hash: found.blockHash };
    },
    hasCode: (contract, at) => hasCode(provider, contract, at),
    async lookAt(contract, at) {
      if (!(await hasCode(provider, contract, at))) return 'no_code';
      try {
        const owner = await ownerOf(provider, contract, tokenThatIsNot, at);
        return owner === null ? 'contract' : 'nonsense';
      } catch (error) {
        if (error instanceof ContractNonsenseError) return 'nonsense';
        throw error;
      }
    },
  };
}

async function hasCode(provider: JsonRpcApiProvider, contract: string, at: bigint): Promise<boolean> {
  return bytesShape.parse(await provider.send('eth_getCode', [contract, quantity(at)])) !== '0x';
}

async function ownerOf(provider: JsonRpcApiProvider, contract: string, tokenId: string, at: bigint) {
  const data = await askOwner(provider, contract, tokenId, at);
  if (data === undefined) return null;
  const [, owner] = /^0x0{24}([0-9a-f]{40})$/i.exec(data) ?? [];
  if (owner === undefined) throw new ContractNonsenseError(contract, 'ownerOf');
  return BigInt(`0x${owner}`) === 0n ? null : getAddress(`0x${owner}`);
}

async function askOwner(provider: JsonRpcApiProvider, contract: string, tokenId: string, at: bigint) {
  try {
    return await callContract(provider, { to: contract, data: encodeOwnerOf(tokenId) }, at);
  } catch (error) {
    if (error instanceof OversizedAnswerError) throw new ContractNonsenseError(contract, 'ownerOf', error);
    throw error;
  }
}
