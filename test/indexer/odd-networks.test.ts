import { Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import { appliedOf, authorizationsOf } from '../../src/providers/indexer/decode/delegations.ts';
import { readBlock } from '../../src/providers/indexer/decode/raw-block.ts';
import { atOnce } from '../../src/providers/indexer/decode/turns.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { blockAfter, type ReplayBlock } from '../support/node/replay.ts';
import { type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { alice, bob, carol, decodeAnswers, rawAnswers, token, topicOf, word } from './raw-answers.ts';
import { readerOf } from './reader.ts';
import { replayedIndex } from './replayed-index.ts';

const single = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';

/** An index of these blocks, and what it answers. */
async function start(database: TestDatabase, blocks: readonly ReplayBlock[]) {
  const run = await replayedIndex(database, blocks, { tries: 1 });
  const reader = readerOf(database, run.index.network);
  return {
    ...run,
    records: async (address: string) => (await reader.history(address)).records,
  };
}

describe('a transaction without a receipt', () => {
  test.for([
    ['cronos/6541', 0],
    ['cronos/131465', 1],
    ['cronos/68216', 1],
  ] as const)(
    'counts as failed without effect, and the index goes on: %s',
    async ([name, place], { database }) => {
      const recorded = readFixture<RecordedBlock>(name);
      const received = new Set(recorded.receipts.map(({ transactionHash }) => transactionHash));
      const missing = recorded.block.transactions.filter(({ hash }) => !received.has(hash));
      expect(missing).toEqual([recorded.block.transactions[place]]);
      const run = await start(database, [recorded, blockAfter(recorded)]);
      await run.index.follow();
      expect(await run.index.state()).toMatchObject({
        head: { number: BigInt(recorded.block.number) + 1n },
        withoutReceipt: 1n,
      });
      const [{ hash, from } = { hash: '', from: '' }] = missing;
      const record = (await run.records(from)).find((one) => one.hash === hash);
      expect(record).toMatchObject({
        receipt_status: '0',
        transaction_fee: null,
        category: 'contract interaction',
        native_transfers: [],
        erc20_transfers: [],
        nft_transfers: [],
      });
      expect(record).not.toHaveProperty('receipt_gas_used');
    },
  );

  test('is waited for while its block is the newest', async ({ database }) => {
    const recorded = readFixture<RecordedBlock>('cronos/6541');
    const run = await start(database, [recorded]);
    expect(await run.index.follow()).toEqual([]);
    expect((await run.index.state())?.head).toBeUndefined();
    const next = blockAfter(recorded);
    run.node.add(next);
    run.node.setHead(next.block.hash);
    await run.index.follow();
    expect((await run.index.state())?.withoutReceipt).toBe(1n);
  });

  test('keeps its place when a later block has it once more, with the receipt', async ({ database }) => {
    const recorded = readFixture<RecordedBlock>('cronos/6541');
    const next = blockAfter(recorded);
    const [transaction] = recorded.block.transactions;
    const receipt = {
      transactionHash: transaction?.hash ?? '',
      blockHash: next.block.hash,
      status: '0x1',
      gasUsed: '0x1',
      contractAddress: null,
      logs: [],
    };
    const again = {
      ...next,
      block: { ...next.block, transactions: recorded.block.transactions },
      receipts: [receipt],
    };
    const run = await start(database, [recorded, again, blockAfter(next)]);
    await run.index.follow();
    expect((await run.records(transaction?.from ?? '')).map(({ receipt_status }) => receipt_status)).toEqual([
      '0',
      '1',
    ]);
  });

  test('is no failure where the header commits to receipts: the node lacks it', async ({ database }) => {
    const recorded = readFixture<RecordedBlock>('cronos/6541');
    const committed = { ...recorded, block: { ...recorded.block, receiptsRoot: `0x${'5'.repeat(64)}` } };
    const run = await start(database, [committed, blockAfter(recorded)]);
    await expect(run.index.follow()).rejects.toThrow('receipt of 0x5395ae4b');
    expect(run.index.follower.blockedAt()).toBe(6541n);
  });
});

describe('a token that is logged as ERC-721 and ERC-1155 at once', () => {
  const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  const many = {
    topics: [single, topicOf(alice), topicOf(alice), topicOf(bob)],
    data: `0x${word(7)}${word(3)}`,
  };
  const one = { topics: [transfer, topicOf(alice), topicOf(bob), topicOf(7)] };

  test.for([
    ['in one block', [[one, many, one]]],
    ['in blocks one after the other', [[one], [many], [one]]],
  ] as const)(
    'is held as often as the ERC-1155 says, and rolling back agrees: %s',
    async ([, parts], { database }) => {
      const blocks: ReplayBlock[] = [];
      for (const logs of parts) {
        const before = blocks.at(-1);
        const { block, receipts } = rawAnswers({ logs });
        const { number, hash, parentHash } = before === undefined ? block : blockAfter(before).block;
        const own = receipts.map((receipt) => ({ ...receipt, blockHash: hash }));
        blocks.push({ block: { ...block, number, hash, parentHash }, receipts: own, traces: null });
      }
      const end = blocks.at(-1);
      if (end === undefined) throw new Error('there is no block');
      // One more transfer, in a block that is replaced by an empty one: then everything is summed anew.
      const { number, hash, parentHash } = blockAfter(end).block;
      const last = rawAnswers({ logs: [many] });
      const replaced: ReplayBlock = {
        block: { ...last.block, number, hash, parentHash },
        receipts: last.receipts.map((receipt) => ({ ...receipt, blockHash: hash })),
        traces: null,
      };
      const run = await start(database, [...blocks, replaced]);
      await run.index.follow();
      const held = () =>
        database
          .db('nft_holdings')
          .where('chain_id', run.chainId)
          .orderBy('wallet')
          .select('amount', 'standard');
      const amount = (each: string) => [
        { amount: `-${each}`, standard: 1155 },
        { amount: each, standard: 1155 },
      ];
      expect(await held()).toEqual(amount('6'));
      const other = { ...blockAfter(end).block, hash: `0x${'0d'.repeat(32)}` };
      run.node.add({ block: other, receipts: [], traces: null });
      run.node.setHead(other.hash);
      await run.index.follow();
      expect((await run.index.state())?.head?.hash).toBe(other.hash);
      expect(await held()).toEqual(amount('3'));
    },
  );
});

test('a row that is there already is an error, and none is dropped in silence', async ({ database }) => {
  const block = twoTransfers();
  const run = await start(database, [block, blockAfter(block)]);
  const row = {
    chain_id: run.chainId,
    wallet: bytesOf(bob),
    contract: bytesOf(token),
    token_id: 7,
    block_number: 16,
    log_index: 1,
    part: 0,
    standard: 1155,
    delta: 1,
    gained: true,
  };
  await database.db('nft_changes').insert(row);
  // The batch has several blocks at first; then the block at fault is tried alone.
  await expect(run.index.follow()).rejects.toThrow('duplicate key');
  await expect(run.index.follow()).rejects.toThrow('duplicate key');
  expect(run.index.follower.blockedAt()).toBe(16n);
  expect((await run.index.state())?.head).toBeUndefined();
});

const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex');

/** Two transactions that move the same token between the same wallets, each with log 0. */
function twoTransfers(): ReplayBlock {
  const log = {
    topics: [single, topicOf(alice), topicOf(alice), topicOf(bob)],
    data: `0x${word(7)}${word(1)}`,
  };
  const { block, receipts } = rawAnswers({ logs: [log] });
  const [first] = block.transactions;
  const [receipt] = receipts;
  if (first === undefined || receipt === undefined) throw new Error('an answer has one transaction');
  const hash = `0x${'78'.repeat(32)}`;
  return {
    block: { ...block, transactions: [first, { ...first, hash }] },
    receipts: [receipt, { ...receipt, transactionHash: hash }],
    traces: null,
  };
}

describe('a delegation of EIP-7702', () => {
  const authority = new Wallet(`0x${'11'.repeat(32)}`);
  const own = authority.address.toLowerCase();

  async function authorized(parts: { chainId?: bigint; nonce?: bigint; from?: string; delegate?: string }) {
    const { chainId = 1n, nonce = 8n, from = alice, delegate = carol } = parts;
    const { address, signature } = await authority.authorize({ address: delegate, chainId, nonce });
    const item = {
      address,
      chainId: `0x${chainId.toString(16)}`,
      nonce: `0x${nonce.toString(16)}`,
      yParity: `0x${signature.yParity}`,
      r: signature.r,
      s: signature.s,
    };
    const { block } = rawAnswers({
      transaction: { from, to: bob, type: '0x4', chainId: '0x1', input: '0x', authorizationList: [item] },
    });
    return atOnce(authorizationsOf(readBlock(block).transactions));
  }

  test.for([
    ['the sender with its next nonce', { from: own, nonce: 8n }, [carol]],
    ['the sender with another nonce', { from: own, nonce: 7n }, []],
    ['another network', { chainId: 5n }, []],
    ['any network', { chainId: 0n }, [carol]],
    ['nobody, which ends it', { delegate: `0x${'0'.repeat(40)}` }, [`0x${'0'.repeat(40)}`]],
  ] as const)('is authorized by %s', async ([, parts, expected]) => {
    const found = await authorized(parts);
    expect(found.map(({ authority: of, delegate }) => [of, delegate])).toEqual(
      expected.map((delegate) => [own, delegate]),
    );
  });

  test.for([
    ['with the next nonce', 8n, carol, `0xef0100${carol.slice(2)}`, 1],
    ['after a nonce that the code of a delegate used', 9n, carol, `0xef0100${carol.slice(2)}`, 1],
    ['with a used nonce', 7n, carol, `0xef0100${carol.slice(2)}`, 0],
    ['whose delegate the code does not show', 8n, carol, `0xef0100${bob.slice(2)}`, 0],
    ['without any code', 8n, carol, '0x', 0],
    ['that ends it', 8n, `0x${'0'.repeat(40)}`, '0x', 1],
    ['that ends it with a used nonce', 7n, `0x${'0'.repeat(40)}`, '0x', 0],
  ] as const)(
    'is applied or ignored by the state of the account: %s',
    async ([, nonce, delegate, code, count]) => {
      const all = await authorized({ nonce, delegate });
      expect(appliedOf(all, { nonce: 8n, code })).toHaveLength(count);
    },
  );

  test('keeps each step of an account up to the one that its code shows', async () => {
    const nobody = `0x${'0'.repeat(40)}`;
    const parts = [
      { nonce: 7n },
      { nonce: 8n },
      { nonce: 9n, delegate: bob },
      { nonce: 10n, delegate: nobody },
    ];
    const all = (await Promise.all(parts.map(authorized))).flat();
    expect(appliedOf(all, { nonce: 8n, code: '0x' }).map(({ nonce }) => nonce)).toEqual([8n, 9n, 10n]);
  });

  test('that the network ignored is none: its signature is empty, and the gas of setting it was not refunded', () => {
    const { block, receipts } = readFixture<{ block: object; receipts: { gasUsed: string }[] }>(
      'bittensor/6646068',
    );
    expect(Number(receipts[0]?.gasUsed)).toBe(21_000 + 25_000);
    expect(atOnce(authorizationsOf(readBlock(block).transactions))).toEqual([]);
  });
});

describe('a fee that is paid in a token', () => {
  const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  const manager = '0xfeec000000000000000000000000000000000000';
  const moved = (from: string, to: string, value: number) => ({
    topics: [transfer, topicOf(from), topicOf(to)],
    data: `0x${word(value)}`,
  });

  test('that somebody else pays is nothing that the sender sent', () => {
    const answers = rawAnswers({
      logs: [moved(alice, manager, 5), moved(carol, manager, 137)],
      receipt: { feeToken: token, feePayer: carol },
    });
    const [only] = decodeAnswers(answers).transactions;
    expect(only?.erc20.map(({ from, kind }) => [from, kind])).toEqual([
      [alice, 'transfer'],
      [carol, 'fee'],
    ]);
  });
});
