import { zeroPadValue } from 'ethers';
import { readBlock, readReceipt } from '../../src/providers/indexer/decode/raw-block.ts';
import { decodeBlock } from '../support/recorded-chain.ts';

/** Answers of a node to try the decoder with: one block, one transaction, the logs that a test is about. */

export const alice = `0x${'a1'.repeat(20)}`;
export const bob = `0x${'b0'.repeat(20)}`;
export const carol = `0x${'ca'.repeat(20)}`;
export const token = `0x${'70'.repeat(20)}`;
const blockHash = `0x${'bb'.repeat(32)}`;
export const transactionHash = `0x${'77'.repeat(32)}`;

const hex = (value: bigint | number) => `0x${value.toString(16)}`;
export const word = (value: bigint | number) => hex(value).slice(2).padStart(64, '0');
export const topicOf = (value: bigint | number | string) =>
  typeof value === 'string' ? zeroPadValue(value, 32) : `0x${word(value)}`;

type LogParts = {
  readonly topics: readonly string[];
  readonly data?: string;
  readonly address?: string;
};

type Parts = {
  readonly logs?: readonly LogParts[];
  readonly transaction?: object;
  readonly receipt?: object;
};

/** Decodes the answers of a node without traces. */
export const decodeAnswers = ({
  block,
  receipts,
}: Pick<ReturnType<typeof rawAnswers>, 'block' | 'receipts'>) =>
  decodeBlock({ block: readBlock(block), receipts: receipts.map(readReceipt), traces: undefined });

/** The raw block and its receipt as `eth_getBlockByNumber` and `eth_getBlockReceipts` would answer. */
export function rawAnswers({ logs = [], transaction = {}, receipt = {} }: Parts) {
  return {
    block: {
      number: '0x10',
      hash: blockHash,
      parentHash: `0x${'aa'.repeat(32)}`,
      timestamp: '0x64b0368f',
      transactions: [
        {
          hash: transactionHash,
          transactionIndex: '0x0',
          from: alice,
          to: token,
          nonce: '0x7',
          value: '0x0',
          gas: '0x5208',
          gasPrice: '0x2',
          input: '0xa9059cbb00',
          ...transaction,
        },
      ],
    },
    receipts: [
      {
        transactionHash,
        blockHash,
        status: '0x1',
        gasUsed: '0x64',
        effectiveGasPrice: '0x3',
        contractAddress: null,
        logs: logs.map(({ topics, data = '0x', address = token }, index) => ({
          address,
          topics,
          data,
          logIndex: hex(index),
        })),
        ...receipt,
      },
    ],
  };
}
