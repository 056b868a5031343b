import { id } from 'ethers';
import { describe, expect, test } from 'vitest';
import { zeroAddress } from '../../src/chain/address.ts';
import type { IndexedTransaction } from '../../src/providers/indexer/decode/domain.ts';
import { MalformedBlockError } from '../../src/providers/indexer/decode/hex.ts';
import { readBlock, readReceipt } from '../../src/providers/indexer/decode/raw-block.ts';
import { nativeLogEmitter } from '../../src/providers/indexer/decode/topics.ts';
import { readCallTraces, readFlatTraces } from '../../src/providers/indexer/decode/traces.ts';
import { type CallTrace, flatten } from '../support/flat-traces.ts';
import {
  decodeBlock,
  decodeRecorded,
  type RecordedBlock,
  readFixture,
  recordedBlocks,
} from '../support/recorded-chain.ts';
import { alice, bob, carol, rawAnswers, token, topicOf, transactionHash, word } from './raw-answers.ts';

function decode(
  parts: Parameters<typeof rawAnswers>[0],
  { wrapped = [] as string[], traces = [] as object[] } = {},
) {
  const { block, receipts } = rawAnswers(parts);
  const read = readBlock(block);
  const source = {
    block: read,
    receipts: receipts.map(readReceipt),
    traces: traces.length === 0 ? undefined : readCallTraces(traces, read.transactions).traces,
  };
  const decoded = decodeBlock(source, new Set(wrapped));
  return { ...decoded, only: decoded.transactions[0] as IndexedTransaction }; // the answers have one
}

const transfer = id('Transfer(address,address,uint256)');
const deposit = id('Deposit(address,uint256)');
const consecutive = id('ConsecutiveTransfer(uint256,uint256,address,address)');

describe('token logs', () => {
  test('reads ERC-2309 as one transfer per token', () => {
    const log = {
      topics: [consecutive, topicOf(5), topicOf(zeroAddress), topicOf(bob)],
      data: `0x${word(7)}`,
    };
    const { only } = decode({ logs: [log] });
    expect(only.nft.map(({ tokenId, to, part }) => [tokenId, to, part])).toEqual([
      [5n, bob, 0],
      [6n, bob, 1],
      [7n, bob, 2],
    ]);
  });

  test('skips and records an ERC-2309 range without end', () => {
    const log = {
      topics: [consecutive, topicOf(0), topicOf(zeroAddress), topicOf(bob)],
      data: `0x${'f'.repeat(64)}`,
    };
    const { only, skipped } = decode({ logs: [log] });
    expect(only.nft).toEqual([]);
    expect(skipped).toEqual([
      { logIndex: 0, address: token, topic: consecutive, reason: 'the range is too long' },
    ]);
  });

  test('reads deposits only of contracts known to wrap the native token', () => {
    const log = { topics: [deposit, topicOf(bob)], data: `0x${word(9)}` };
    expect(decode({ logs: [log] }).only.erc20).toEqual([]);
    expect(decode({ logs: [log] }, { wrapped: [token] }).only.erc20).toMatchObject([
      { from: zeroAddress, to: bob, value: 9n, kind: 'wrap' },
    ]);
  });

  test('counts a deposit once when the contract emits the transfer too', () => {
    const logs = [
      { topics: [transfer, topicOf(zeroAddress), topicOf(bob)], data: `0x${word(9)}` },
      { topics: [deposit, topicOf(bob)], data: `0x${word(9)}` },
    ];
    const { only } = decode({ logs }, { wrapped: [token] });
    expect(only.erc20).toMatchObject([{ kind: 'transfer', value: 9n, logIndex: 0 }]);
  });
});

describe('logs of odd shape', () => {
  const batch = id('TransferBatch(address,address,address,uint256[],uint256[])');
  const parties = [topicOf(carol), topicOf(alice), topicOf(bob)];
  const malformed: [string, { topics: string[]; data?: string; address?: string }][] = [
    ['a transfer with two topics', { topics: [transfer, topicOf(bob)], data: `0x${word(1)}` }],
    ['a transfer without amount', { topics: [transfer, topicOf(alice), topicOf(bob)] }],
    ['half a word', { topics: [transfer, topicOf(alice), topicOf(bob)], data: '0x01' }],
    [
      'an address over 20 bytes',
      { topics: [transfer, `0x${'f'.repeat(64)}`, topicOf(bob)], data: `0x${word(1)}` },
    ],
    [
      'a batch whose arrays differ',
      { topics: [batch, ...parties], data: `0x${[64, 128, 1, 5, 0].map(word).join('')}` },
    ],
    [
      'a batch that points outside',
      { topics: [batch, ...parties], data: `0x${word(2n ** 255n)}${word(64)}` },
    ],
    ['a change of metadata without a token', { topics: [id('MetadataUpdate(uint256)')] }],
    [
      'a change of metadata whose range ends before it begins',
      { topics: [id('BatchMetadataUpdate(uint256,uint256)')], data: `0x${word(2)}${word(1)}` },
    ],
    ['a change of a URI without a token', { topics: [id('URI(string,uint256)')] }],
    [
      'a batch longer than its data',
      { topics: [batch, ...parties], data: `0x${[64, 64, 1000].map(word).join('')}` },
    ],
  ];

  test.each(malformed)('skips and records %s', (_name, log) => {
    const good = { topics: [transfer, topicOf(alice), topicOf(bob)], data: `0x${word(1)}` };
    const { only, skipped } = decode({ logs: [log, good] });
    expect(only.nft).toEqual([]);
    expect(only.erc20).toHaveLength(1);
    expect(skipped).toMatchObject([{ logIndex: 0, address: token }]);
  });

  test('reads what an ABI decoder reads: data after the last value, and an offset between words', () => {
    const bytes = (...words: (number | bigint)[]) => words.map(word).join('');
    const after = `0x${bytes(64, 128, 1, 5, 1, 9)}${word(1)}ff`;
    const between = `0x${bytes(68, 132)}00000000${bytes(1, 5, 1, 9)}`;
    for (const data of [after, between]) {
      const { only, skipped } = decode({ logs: [{ topics: [batch, ...parties], data }] });
      expect(only.nft).toMatchObject([{ tokenId: 5n, amount: 9n, standard: 'ERC1155', batch: true }]);
      expect(skipped).toEqual([]);
    }
    const longer = { topics: [transfer, topicOf(alice), topicOf(bob)], data: `0x${bytes(7, 8)}01` };
    expect(decode({ logs: [longer] }).only.erc20).toMatchObject([{ value: 7n }]);
  });

  test('ignores an empty batch without calling it malformed', () => {
    const log = { topics: [batch, ...parties], data: `0x${[64, 96, 0, 0].map(word).join('')}` };
    const { only, skipped } = decode({ logs: [log] });
    expect([only.nft, skipped]).toEqual([[], []]);
  });
});

describe('approvals', () => {
  test('are read, and revocations, of amounts, tokens and whole collections', () => {
    const approval = id('Approval(address,address,uint256)');
    const all = id('ApprovalForAll(address,address,bool)');
    const logs = [
      { topics: [approval, topicOf(alice), topicOf(bob)], data: `0x${word(5)}` },
      { topics: [approval, topicOf(alice), topicOf(bob)], data: `0x${word(0)}` },
      { topics: [approval, topicOf(alice), topicOf(zeroAddress), topicOf(8)] },
      { topics: [all, topicOf(alice), topicOf(bob)], data: `0x${word(1)}` },
      { topics: [all, topicOf(alice), topicOf(bob)], data: `0x${word(0)}` },
    ];
    expect(decode({ logs }).only.approvals.map(({ kind, value, granted }) => [kind, value, granted])).toEqual(
      [
        ['amount', 5n, true],
        ['amount', 0n, false],
        ['token', 8n, false],
        ['all', 0n, true],
        ['all', 0n, false],
      ],
    );
  });
});

describe('native movements', () => {
  const eip7708 = [
    { address: nativeLogEmitter, topics: [transfer, topicOf(alice), topicOf(token)], data: `0x${word(5)}` },
    { address: nativeLogEmitter, topics: [transfer, topicOf(token), topicOf(bob)], data: `0x${word(3)}` },
  ];

  test('come from EIP-7708 logs where there are no traces, and those are no ERC-20', () => {
    const { only } = decode({ logs: eip7708, transaction: { value: '0x5' } });
    expect(only.erc20).toEqual([]);
    expect(only.native).toEqual([
      { from: alice, to: token, value: 5n, internal: false },
      { from: token, to: bob, value: 3n, internal: true },
    ]);
  });

  test('count once where there are both traces and EIP-7708 logs', () => {
    const calls = [{ type: 'CALL', from: token, to: bob, value: '0x3' }];
    const result = { type: 'CALL', from: alice, to: token, value: '0x5', calls };
    const traces = [{ txHash: transactionHash, result }];
    expect(decode({ logs: eip7708, transaction: { value: '0x5' } }, { traces }).only.native).toHaveLength(2);
  });

  test('leave out delegated calls, reverted frames with all inside them, and a failed transaction', () => {
    const inner = { type: 'CALL', from: bob, to: carol, value: '0x1' };
    const calls = [
      { type: 'DELEGATECALL', from: token, to: carol, value: '0x5', calls: [{ ...inner, value: '0x2' }] },
      { type: 'CALL', from: token, to: bob, value: '0x4', error: 'execution reverted', calls: [inner] },
      { type: 'CREATE2', from: token, to: carol, value: '0x6' },
      { type: 'SELFDESTRUCT', from: carol, to: bob, value: '0x6' },
    ];
    const result = { type: 'CALL', from: alice, to: token, value: '0x0', calls };
    const traces = [{ txHash: transactionHash, result }];
    expect(decode({}, { traces }).only.native.map(({ value }) => value)).toEqual([2n, 6n, 6n]);
    const failed = decode({ receipt: { status: '0x0' }, transaction: { value: '0x5' } }, { traces });
    expect([failed.only.native, failed.only.succeeded]).toEqual([[], false]);
  });

  test.each(recordedBlocks.filter((name) => readFixture<RecordedBlock>(name).traces !== null))(
    'of %s are the same from trace_block as from callTracer',
    (name) => {
      const { traces, block } = readFixture<RecordedBlock>(name);
      const { transactions } = readBlock(block);
      const list = flatten(traces as readonly CallTrace[], block.hash);
      const flat = readFlatTraces(list, block.hash, transactions);
      const nested = readCallTraces(traces, transactions);
      expect([nested.missing, flat.missing]).toEqual([undefined, undefined]);
      for (const [hash, { native, failed, calls }] of nested.traces) {
        expect(flat.traces.get(hash)).toMatchObject({ native, failed, calls });
      }
    },
  );
});

describe('kinds of transactions', () => {
  test('counts the fees for blobs and for a first layer', () => {
    const receipt = { blobGasUsed: '0xa', blobGasPrice: '0x2', l1Fee: '0x5' };
    expect(decode({ receipt }).only.fee).toBe(100n * 3n + 20n + 5n);
  });

  test('names what a creation created, unless it failed', () => {
    const receipt = { contractAddress: carol };
    expect(decode({ transaction: { to: null }, receipt }).only).toMatchObject({ to: null, created: carol });
    const failed = decode({ transaction: { to: null }, receipt: { ...receipt, status: '0x0' } });
    expect(failed.only.created).toBeNull();
  });

  test('credits what a deposit of an OP chain brings', () => {
    const { only } = decode({ transaction: { mint: '0x9', value: '0x9', to: bob, input: '0x' } });
    expect(only.native.map(({ from, to, value }) => [from, to, value])).toEqual([
      [zeroAddress, alice, 9n],
      [alice, bob, 9n],
    ]);
  });

  test('takes receipts from before Byzantium as done, unless a trace tells otherwise', () => {
    const { transactions } = decodeRecorded('ethereum/4369999');
    expect(transactions.every(({ succeeded }) => succeeded)).toBe(true);
    const result = { type: 'CALL', from: alice, to: token, value: '0x5', error: 'out of gas' };
    const receipt = { status: undefined };
    const { only } = decode(
      { receipt, transaction: { value: '0x5' } },
      { traces: [{ txHash: transactionHash, result }] },
    );
    expect([only.succeeded, only.native]).toEqual([false, []]);
  });

  test('accepts blob, deposit, Arbitrum and state-sync transactions', () => {
    const last = (name: string) => decodeRecorded(name).transactions.at(-1);
    const first = (name: string) => decodeRecorded(name).transactions[0];
    expect(last('polygon/10000000')).toMatchObject({
      from: zeroAddress,
      to: zeroAddress,
      fee: 0n,
      native: [],
    });
    expect(first('base/2000000')).toMatchObject({ gasPrice: 0n, fee: 0n });
    expect(first('arbitrum/150000000')).toMatchObject({ fee: 0n, native: [] });
    expect(decodeRecorded('ethereum/20000000').transactions).toHaveLength(134);
  });
});

describe('what does not belong together', () => {
  test('is refused: traces of the block that another branch has at the same height', () => {
    const { traces } = readFixture<RecordedBlock>('ethereum/17686111');
    const flat = flatten(traces as readonly CallTrace[], `0x${'0b'.repeat(32)}`);
    expect(() => readFlatTraces(flat, `0x${'0a'.repeat(32)}`, [])).toThrow(MalformedBlockError);
  });

  test('is refused: receipts of another block, missing receipts, broken fields', () => {
    const { block, receipts } = rawAnswers({});
    const source = (other: object) => ({
      block: readBlock(block),
      traces: undefined,
      receipts: [],
      ...other,
    });
    const foreign = receipts.map((receipt) => readReceipt({ ...receipt, blockHash: transactionHash }));
    expect(() => decodeBlock(source({ receipts: foreign }), new Set())).toThrow(MalformedBlockError);
    expect(() => decodeBlock(source({}), new Set())).toThrow(MalformedBlockError);
    expect(() => readBlock({ ...block, number: 16 })).toThrow('number is malformed');
    expect(() => readBlock(null)).toThrow(MalformedBlockError);
    expect(() => readReceipt({ ...receipts[0], gasUsed: 'many' })).toThrow('gasUsed is malformed');
  });
});
