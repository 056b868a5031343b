import { describe, expect } from 'vitest';
import type { TraceMethod } from '../../src/providers/indexer/store/write/index-state-store.ts';
import { verifyBlocks } from '../../src/providers/indexer/verify-blocks.ts';
import { test } from '../support/fixtures.ts';
import { type Answer, failure } from '../support/node/flaw.ts';
import {
  type Asked,
  chainAround,
  hexOf,
  milliEth,
  type OddBlock,
  type OddChain,
  type OddTransaction,
  wordOfHex,
} from '../support/odd-chain.ts';
import { startOddIndex } from '../support/odd-index.ts';
import type { TestService } from '../support/service.ts';

const account = (pair: string) => `0x${pair.repeat(20)}`;
const [payer, payee, contract, token] = [account('a1'), account('b2'), account('c3'), account('70')];
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const approvalTopic = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const transfer = (address: string, from: string, to: string, value: bigint | number) => ({
  address,
  topics: [transferTopic, wordOfHex(from), wordOfHex(to)],
  data: wordOfHex(value),
});

/** The payer calls the contract with 1 ETH, which pays 0.4 ETH to the payee. */
const inner: OddTransaction = {
  tx: { from: payer, to: contract, value: milliEth(1_000), input: '0x12345678' },
  receipt: { gasUsed: '0xc350' },
  trace: {
    type: 'CALL',
    from: payer,
    to: contract,
    value: milliEth(1_000),
    input: '0x12345678',
    calls: [{ type: 'CALL', from: contract, to: payee, value: milliEth(400), input: '0x' }],
  },
};
const plain: OddTransaction = { tx: { from: payer, to: payee, value: milliEth(100) } };

type How = { readonly traces?: TraceMethod; readonly nativeAsset?: string; readonly from?: string };

/** Indexes a chain, and reads it through the service. */
async function indexed(service: TestService, chain: OddChain, how?: How) {
  const run = await begin(service, chain, how);
  await run.follow();
  return run;
}

/** The same before the chain is indexed. */
async function begin(service: TestService, chain: OddChain, how: How = {}) {
  const { traces = 'none', nativeAsset = null, from = '0' } = how;
  const run = await startOddIndex(service, [chain], { indexTraces: traces, nativeAsset, indexFrom: from });
  const { index, get, network } = run;
  const history = (address: string) => get('wallet/history', { address, order: 'ASC' }).expect(200);
  return {
    ...run,
    async follow() {
      await run.follow();
      while (await index.filler.fill());
    },
    async of(address: string) {
      const { body, headers } = await history(address);
      return { records: body.history.result, traces: headers['x-index-traces'], headers };
    },
    async texts(address: string) {
      const { body } = await history(address);
      return body.history.result.map(
        ({ category, summary }: { category: string; summary: string }) => `[${category}] ${summary}`,
      );
    },
    /** What differs from the node, of each block of the chain. */
    async differences() {
      const verified = await verifyBlocks({
        db: service.db,
        chainId: network.chainId,
        numbers: chain.blocks.map((_, height) => BigInt(height)),
        scan: true,
        readBlock: index.readBlock,
        traced: network.indexTraces !== 'none',
        signal: new AbortController().signal,
        onProgress: () => {},
        pause: async () => {},
      });
      return verified.differences;
    },
    sums: async (address: string) => (await get('wallet/reconciliation', { address }).expect(200)).body,
  };
}

const around = (...transactions: readonly OddTransaction[]): OddBlock[] =>
  chainAround({ transactions }, { payer, payee });
const answering = (method: string, answer: (asked: Asked) => Answer | undefined) => ({
  answer: (asked: Asked) => (asked.method === method ? answer(asked) : undefined),
});

describe('traces', () => {
  // In which forms they count, the tests of traces say.
  test('that do not belong to their transactions are not counted as read', async ({ service }) => {
    const { of } = await indexed(
      service,
      {
        blocks: around(plain, inner),
        ...answering('debug_traceBlockByHash', ({ block }) =>
          block?.block.number === '0x2'
            ? { result: block.frames.map((result) => ({ txHash: `0x${'ee'.repeat(32)}`, result })) }
            : undefined,
        ),
      },
      { traces: 'debug' },
    );
    const { records, traces } = await of(payer);
    expect(traces).toBe('some');
    // What the transactions themselves move is known all the same.
    expect(records[2].native_transfers[0].value).toBe(String(10n ** 18n));
  });

  test('are asked for by number of a node that does not give them by hash', async ({ service }) => {
    const { of, texts, differences, nodes } = await indexed(
      service,
      {
        blocks: around(inner),
        answer: ({ method, block }) => {
          if (method === 'debug_traceBlockByHash') return failure(-32601, 'in whatever words');
          if (method !== 'debug_traceBlockByNumber') return undefined;
          return { result: block?.frames.map((result) => ({ result })) };
        },
      },
      { traces: 'debug' },
    );
    expect((await of(payee)).traces).toBe('all');
    expect(await texts(payee)).toContain('[receive] Received 0.4 ETH from 0xc3...c3c3');
    expect(await differences()).toEqual([]);
    expect(nodes[0]?.count('debug_traceBlockByNumber')).toBeGreaterThan(0);
  });

  // That no word and no other code of an error matters, the tests of `judgeError` say.
  test.for([
    ['an error', failure(-32000, 'credits limited')],
    ['a status of HTTP', { status: 403 }],
  ] as const)(
    'that a node refuses by %s leave the index as it is without',
    async ([, answer], { service }) => {
      const { of, texts } = await indexed(
        service,
        {
          blocks: around(inner),
          answer: ({ method }) => (method.includes('trace') ? answer : undefined),
        },
        { traces: 'debug' },
      );
      expect((await of(payer)).traces).toBe('some');
      expect(await texts(payer)).toContain('[send] Sent 1 ETH to 0xc3...c3c3');
    },
  );
});

describe('a height without a block', () => {
  const gap = (heights: number): OddBlock[] => [
    ...chainAround(null, { payer, payee }).slice(0, 2),
    ...Array.from({ length: heights }, () => null),
    ...chainAround(null, { payer, payee }).slice(3),
    {},
  ];
  const ways: [string, Answer | 'before'][] = [
    ['null', { result: null }],
    ['an error', failure(12, 'requested epoch was a null round (2)')],
    ['the block before', 'before'],
  ];
  test.for(ways.flatMap(([way, answer]) => [1, 3].map((count) => [way, count, answer] as const)))(
    'is passed where the next block follows the one before: %s, %i in a row',
    async ([, count, answer], { service }) => {
      const { texts, differences } = await indexed(service, {
        blocks: gap(count),
        answer: ({ method, params: [first], block, before }) => {
          if (method !== 'eth_getBlockByNumber' || !String(first).startsWith('0x')) return undefined;
          if (block !== undefined) return undefined;
          return answer === 'before' ? { result: before } : answer;
        },
      });
      expect(await texts(payer)).toEqual([
        '[send] Sent 1 ETH to 0xb2...b2b2',
        '[receive] Received 0.5 ETH from 0xb2...b2b2',
      ]);
      expect(await differences()).toEqual([]);
    },
  );

  test.for(['0', '2', '190'])(
    'is passed however many there are in a row, also where the index begins at %s',
    async (from, { service }) => {
      const { texts } = await indexed(service, { blocks: gap(200) }, { from });
      expect((await texts(payer)).at(-1)).toBe('[receive] Received 0.5 ETH from 0xb2...b2b2');
    },
  );

  test('is none where the next block has another parent: the node lacks a block, and is told so', async ({
    service,
  }) => {
    const run = await begin(service, {
      blocks: around(plain),
      answer: ({ method, params: [first] }) =>
        method === 'eth_getBlockByNumber' && first === '0x2' ? failure(12, 'a word of its own') : undefined,
    });
    await expect(run.follow()).rejects.toMatchObject({ error: { message: 'a word of its own' } });
  });
});

describe('receipts', () => {
  test.for([
    ['an error', failure(-32001, 'rpc method is not whitelisted')],
    ['an error without a code', { error: { message: 'Method not supported' } }],
    ['a status of HTTP', { status: 403 }],
    ['null', { result: null }],
    ['none', { result: [] }],
  ] as const)(
    'are read one by one where a node answers %s for those of a block that has some',
    async ([, answer], { service }) => {
      const { of } = await indexed(service, {
        blocks: around(inner, plain),
        answer: ({ method }) => (method === 'eth_getBlockReceipts' ? answer : undefined),
      });
      expect(
        (await of(payer)).records.map(({ transaction_fee }: { transaction_fee: string }) => transaction_fee),
      ).toEqual(['0.000021', '0.00005', '0.000021', '0.000021']);
    },
  );

  test('have logs in their order, whatever numbers a node gives to them', async ({ service }) => {
    const logs = [1, 2, 3].map((amount) => ({ ...transfer(token, payer, payee, amount), logIndex: null }));
    const { of, differences } = await indexed(service, {
      blocks: around({ tx: { from: payer, to: token, input: '0xa9059cbb' }, logs }),
    });
    const { erc20_transfers: moved } = (await of(payer)).records[1];
    expect(moved.map(({ value }: { value: string }) => value)).toEqual(['1', '2', '3']);
    expect(await differences()).toEqual([]);
  });

  test('are asked for one at a time of a node that refuses everything', async ({ service }) => {
    const { follow, nodes } = await begin(service, {
      blocks: around(...Array.from({ length: 40 }, () => plain)),
      answer: ({ method, block }) =>
        method.endsWith('Receipts') || (method.endsWith('Receipt') && block === undefined)
          ? failure(-32000, 'credits limited')
          : undefined,
    });
    await expect(follow()).rejects.toThrow('credits limited');
    expect(nodes[0]?.count('eth_getTransactionReceipt')).toBeLessThan(30);
  });

  test('of transactions that the block does not list are ignored', async ({ service }) => {
    const { of, texts } = await indexed(service, {
      blocks: around(inner),
      ...answering('eth_getBlockReceipts', ({ block }) => {
        const own = block?.receipts ?? [];
        const system = { transactionHash: `0x${'ee'.repeat(32)}`, gasUsed: null };
        return block?.block.number === '0x2'
          ? { result: [system, ...own, { ...system, transactionHash: `0x${'ef'.repeat(32)}` }] }
          : undefined;
      }),
    });
    expect(await texts(payer)).toContain('[send] Sent 1 ETH to 0xc3...c3c3');
    expect((await of(payer)).records).toHaveLength(3);
  });
});

describe('a fee', () => {
  const recordOf = async (service: TestService, odd: OddTransaction, of = payer, fields: object = {}) => {
    const chain = chainAround({ transactions: [odd], fields: { ...fields } }, { payer, payee });
    const run = await indexed(service, { blocks: chain });
    expect(await run.differences()).toEqual([]);
    const { records } = await run.of(of);
    return {
      record: records.find(({ block_number }: { block_number: string }) => block_number === '2'),
      ...run,
    };
  };
  const dynamic = {
    from: payer,
    to: payee,
    value: milliEth(100),
    type: '0x2',
    maxFeePerGas: hexOf(2_000_000_000),
    maxPriorityFeePerGas: '0x1',
  };

  test.for([
    ['nor a price', { ...dynamic, gasPrice: null }, null],
    ['but the bid', { ...dynamic, gasPrice: hexOf(2_000_000_000) }, null],
    ['but zero', { ...dynamic, gasPrice: hexOf(1_000_000_000) }, '0x0'],
    [
      'and the most is below base fee and tip',
      { ...dynamic, maxFeePerGas: hexOf(1_000_000_000), maxPriorityFeePerGas: '0xff' },
      null,
    ],
  ] as const)(
    'is that of base fee and tip where the receipt has no price, %s',
    async ([, tx, effectiveGasPrice], { service }) => {
      const { record } = await recordOf(service, { tx, receipt: { effectiveGasPrice } });
      expect(record).toMatchObject({ gas_price: '1000000000', transaction_fee: '0.000021' });
    },
  );

  test.for([
    ['without a base fee', { ...dynamic, gasPrice: null }, { baseFeePerGas: null }],
    ['of a kind with only a bid', { from: payer, to: payee, type: '0x2', gasPrice: hexOf(7) }, {}],
  ] as const)('that nobody tells is null and counted as unknown: %s', async ([, tx, fields], { service }) => {
    const { record, sums } = await recordOf(
      service,
      { tx, receipt: { effectiveGasPrice: null } },
      payer,
      fields,
    );
    expect(record).toMatchObject({ gas_price: null, transaction_fee: null });
    const { reasons, fees } = await sums(payer);
    expect(fees).toBe('21000000000000');
    expect(reasons).toContainEqual({ reason: 'fees_unknown', amount: null, count: '1' });
  });

  test.for([
    ['null', null],
    ['an empty text', ''],
    ['nothing', undefined],
  ] as const)('is unknown where the gas that was used is %s', async ([, gasUsed], { service }) => {
    const { record, sums } = await recordOf(service, { ...plain, receipt: { gasUsed } });
    expect(record.transaction_fee).toBeNull();
    expect(record).not.toHaveProperty('receipt_gas_used');
    expect((await sums(payer)).reasons).toContainEqual({ reason: 'fees_unknown', amount: null, count: '1' });
  });

  test.for(['0x0', '0x00', '0x', '', 0, null, undefined, '0x1', 1])(
    'of an old transaction is that of its price: type %s',
    async (type, { service }) => {
      const tx = { ...plain.tx, type };
      const { record } = await recordOf(service, { tx, receipt: { effectiveGasPrice: undefined } });
      expect(record.transaction_fee).toBe('0.000021');
    },
  );

  const operator = {
    l1Fee: hexOf(10_000_000_000),
    operatorFeeScalar: hexOf(5_621_408),
    operatorFeeConstant: hexOf(78_523_796_147_910_897n),
  };
  test.for([
    ['since Isthmus', operator, '0.078544806148028946'],
    ['since Jovian', { ...operator, daFootprintGasScalar: '0x1' }, '0.078556611104710897'],
    ['without one', { l1Fee: hexOf(10_000_000_000) }, '0.00002101'],
  ] as const)('has the share of the operator of the OP stack: %s', async ([, receipt, fee], { service }) => {
    const { record } = await recordOf(service, { tx: { ...plain.tx, type: '0x2' }, receipt });
    expect(record.transaction_fee).toBe(fee);
  });

  test('of a deposit stays zero, though its receipt has the share of the operator', async ({ service }) => {
    const { record } = await recordOf(service, {
      tx: { ...plain.tx, type: '0x7e', gasPrice: '0x0', mint: '0x0' },
      receipt: { effectiveGasPrice: '0x0', ...operator, l1Fee: '0x0' },
    });
    expect(record.transaction_fee).toBe('0');
  });

  const currency = account('72');
  const feesOf = (...logs: object[]) => ({
    tx: { from: payer, to: payee, value: milliEth(500), feeCurrency: currency, gas: '0x989680' },
    receipt: { gasUsed: hexOf(100_000) },
    logs: logs as OddTransaction['logs'] & object[],
  });
  const fee = 10n ** 14n;
  test.for([
    ['legacy', feesOf(transfer(currency, payer, account('fe'), fee))],
    [
      'with a tip',
      feesOf(
        transfer(currency, payer, account('fd'), 1n),
        transfer(currency, payer, account('fe'), fee - 1n),
      ),
    ],
    [
      'with a refund',
      feesOf(
        transfer(currency, payer, account('fe'), 2n * fee),
        transfer(currency, account('fe'), payer, fee),
      ),
    ],
  ] as const)('in a token is no native fee but a movement of its kind: %s', async ([, odd], { service }) => {
    const { record, texts, sums } = await recordOf(service, odd);
    expect(record.transaction_fee).toBeNull();
    expect(await texts(payer)).toContain('[send] Sent 0.5 ETH to 0xb2...b2b2');
    expect((await sums(payer)).fees).toBe('21000000000000');
  });

  test.for(['feeToken', 'feeCurrency'] as const)(
    'in a token is none of the native asset wherever %s says so',
    async (name, { service }) => {
      const { tx, receipt, logs } = feesOf(transfer(currency, payer, account('fe'), fee));
      for (const odd of [
        { tx: { ...tx, feeCurrency: undefined, [name]: currency }, receipt, logs },
        { tx: { ...tx, feeCurrency: undefined }, receipt: { ...receipt, [name]: currency }, logs },
      ]) {
        const { record, texts } = await recordOf(service, odd);
        expect(record.transaction_fee).toBeNull();
        expect(await texts(payer)).toContain('[send] Sent 0.5 ETH to 0xb2...b2b2');
      }
    },
  );

  test('is native where the token or the payer is the zero address', async ({ service }) => {
    const nobody = `0x${'0'.repeat(40)}`;
    const { record } = await recordOf(service, {
      ...plain,
      tx: { ...plain.tx, feeCurrency: nobody, feePayer: nobody },
    });
    expect(record).toMatchObject({ transaction_fee: '0.000021' });
    expect(record).not.toHaveProperty('fee_payer');
  });

  test('in the token that is sent as well leaves what is sent', async ({ service }) => {
    const sent = transfer(currency, payer, payee, 10n ** 18n);
    const odd = feesOf(sent, transfer(currency, payer, account('fe'), fee));
    const { texts } = await recordOf(service, {
      ...odd,
      tx: { ...odd.tx, to: currency, value: '0x0', input: '0xa9059cbb' },
    });
    expect((await texts(payer))[1]).toMatch(/^\[token send\] Sent an amount of 0x72...7272 to 0xb2...b2b2/);
  });

  test.for([
    ['the transaction', { feePayer: contract }, {}],
    ['the receipt', {}, { feePayer: contract }],
    ['both', { feePayer: contract }, { feePayer: contract }],
  ] as const)(
    'of another payer is not charged to the sender: told by %s',
    async ([, tx, receipt], { service }) => {
      const odd = { tx: { ...plain.tx, type: '0x16', ...tx }, receipt };
      const { record, sums, texts } = await recordOf(service, odd);
      expect(record).toMatchObject({ fee_payer: contract, transaction_fee: '0.000021' });
      expect((await sums(payer)).fees).toBe('21000000000000');
      expect((await sums(contract)).fees).toBe('21000000000000');
      expect(await texts(contract)).toEqual(['[contract interaction] Paid the fee of a transaction']);
    },
  );
});

describe('forms of a node', () => {
  test.for([
    ['empty texts', { to: '', input: '0x6080' }, { to: '', contractAddress: contract }],
    ['no digits', { to: '0x', input: '0x6080', nonce: '0x' }, { to: '0x', contractAddress: contract }],
    ['nothing', { to: null, input: '0x6080' }, { contractAddress: contract }],
    ['a zero', { to: '0x0', input: '0x6080' }, { to: '0x0', contractAddress: contract }],
  ] as const)('for no recipient are read: %s', async ([, tx, receipt], { service }) => {
    const run = await indexed(service, {
      blocks: around({ tx: { from: payer, ...tx }, receipt }, { ...plain, receipt: { contractAddress: '' } }),
    });
    const { records } = await run.of(payer);
    expect(records[1]).toMatchObject({ to_address: null, created_contract: contract });
    expect(records[2]).not.toHaveProperty('created_contract');
  });

  test.for([
    ['0x', { value: '0x', nonce: '0x' }, '0'],
    ['an empty text', { value: '', nonce: '', input: '', gas: '' }, null],
    ['null', { value: null, nonce: null, input: null }, null],
    ['a number', { value: 0, nonce: 0 }, '0'],
  ] as const)(
    'for zero are read, and a nonce that is missing is unknown: %s',
    async ([, fields, nonce], { service }) => {
      const run = await indexed(service, {
        blocks: around({ tx: { from: payer, to: payee, ...fields } }),
      });
      expect((await run.of(payer)).records[1]).toMatchObject({
        value: '0',
        nonce,
        summary: 'Sent 0 ETH to 0xb2...b2b2',
      });
    },
  );

  test('for no entries are read: lists that are null', async ({ service }) => {
    const log = { ...transfer(token, payer, payee, 5), data: '' };
    const run = await indexed(service, {
      blocks: [
        { fields: { transactions: null, uncles: null, withdrawals: null, gasUsed: '0x0' } },
        { transactions: [{ ...plain, receipt: { logs: null } }] },
        { transactions: [{ ...plain, logs: [{ ...log, topics: null }] }] },
        {},
      ],
    });
    expect((await run.of(payer)).records).toHaveLength(2);
    expect(await run.differences()).toEqual([]);
  });

  test.for([
    ['milliseconds', 1_761_317_324_396n],
    ['nanoseconds', 1_761_317_324_396_000_000n],
  ] as const)('that has the time of a block in %s is rejected by name', async ([, time], { service }) => {
    const blocks: OddBlock[] = [
      { fields: { timestamp: '0x0' } },
      { fields: { timestamp: hexOf(time) }, transactions: [plain] },
      {},
    ];
    const run = await begin(service, { blocks });
    await expect(run.follow()).rejects.toThrow(
      'timestamp (it must be in seconds since 1970, not milliseconds)',
    );
  });
});

describe('the contract of the native asset', () => {
  const asset = '0x000000000000000000000000000000000000800a';
  const bootloader = '0x0000000000000000000000000000000000008001';
  const price = { gasPrice: hexOf(25_000_000), type: '0x71' };
  const receipt = { gasUsed: hexOf(1_875_000) };
  const fees = [
    transfer(asset, payer, bootloader, 60_000_000_000_000n),
    transfer(asset, bootloader, payer, 13_125_000_000_000n),
  ] as const;
  const value = 30_000_000_000_000_000n;
  const onAsset = (service: TestService, transactions: readonly OddTransaction[], how: How = {}) =>
    indexed(service, { blocks: around(...transactions) }, { nativeAsset: asset, ...how });

  test('logs fee, value and refund, of which the value alone moved', async ({ service }) => {
    const approval = {
      address: token,
      topics: [approvalTopic, wordOfHex(payer), wordOfHex(contract)],
      data: wordOfHex(5),
    };
    const sending = {
      tx: { from: payer, to: payee, value: hexOf(value), ...price },
      receipt,
      logs: [fees[0], transfer(asset, payer, payee, value), fees[1]],
    };
    const approving = {
      tx: { from: payer, to: token, input: '0x095ea7b3', ...price },
      receipt,
      logs: [fees[0], approval, fees[1]],
    };
    const nativeAsset = asset.toUpperCase().replace('0X', '0x');
    const run = await onAsset(service, [sending, approving], { nativeAsset });
    const [, sent, approved] = await run.texts(payer);
    expect([sent, approved]).toEqual([
      '[send] Sent 0.03 ETH to 0xb2...b2b2',
      '[approve] Approved an amount of 0x70...7070',
    ]);
    expect((await run.of(payer)).records[1]).toMatchObject({
      transaction_fee: '0.000046875',
      erc20_transfers: [],
    });
    expect(await run.differences()).toEqual([]);
  });

  test('adds what no frame shows, and nothing that a frame shows', async ({ service }) => {
    const moved = { tx: { from: payer, to: asset, input: '0xa9059cbb', ...price }, receipt };
    const trace = { type: 'CALL', from: payer, to: asset, value: '0x0', input: '0xa9059cbb' };
    const unseen = { ...moved, trace, logs: [fees[0], transfer(asset, payer, payee, 9n), fees[1]] };
    const seen = { ...inner, logs: [transfer(asset, contract, payee, 4n * 10n ** 17n)] };
    const run = await onAsset(service, [unseen, seen], { traces: 'debug' });
    const { records } = await run.of(payee);
    expect(
      records.map(({ native_transfers }: { native_transfers: { value: string }[] }) =>
        native_transfers.map(({ value }) => value),
      ),
    ).toEqual([[String(10n ** 18n)], ['9'], [String(4n * 10n ** 17n)], [String(5n * 10n ** 17n)]]);
    expect(await run.differences()).toEqual([]);
  });

  test('says who paid the fee where that was not the sender', async ({ service }) => {
    const paymaster = account('fa');
    const logs = [
      transfer(asset, paymaster, bootloader, 60_000_000_000_000n),
      transfer(asset, payer, payee, value),
      transfer(asset, bootloader, paymaster, 13_125_000_000_000n),
    ];
    const tx = { from: payer, to: payee, value: hexOf(value), ...price };
    const run = await onAsset(service, [{ tx, receipt, logs }]);
    expect((await run.of(payer)).records[1]).toMatchObject({ fee_payer: paymaster });
    expect((await run.sums(payer)).fees).toBe('21000000000000');
    expect(await run.sums(paymaster)).toMatchObject({ fees: '46875000000000', movements: '0' });
  });

  test('tells of what contracts move inside', async ({ service }) => {
    const tx = { from: payer, to: contract, value: hexOf(value), input: '0x12345678', ...price };
    const inside = [transfer(asset, payer, contract, value), transfer(asset, contract, payee, 7n)];
    const run = await onAsset(service, [{ tx, receipt, logs: [fees[0], ...inside, fees[1]] }]);
    const { records } = await run.of(payee);
    expect(records[1].native_transfers).toMatchObject([
      { from_address: contract, value: '7', internal_transaction: true },
    ]);
  });
});

describe('a Transfer whose fourth topic is a value', () => {
  const log = {
    address: token,
    topics: [transferTopic, wordOfHex(payer), wordOfHex(payee), wordOfHex(10n ** 19n)],
    data: '0x',
  };
  const odd = { tx: { from: payer, to: token, input: '0xa9059cbb' }, logs: [log] };
  const texts = (text: string) =>
    `${wordOfHex(32)}${wordOfHex(text.length).slice(2)}${Buffer.from(text).toString('hex').padEnd(64, '0')}`;
  const contractOf = (isNft: boolean | undefined, decimals: number | undefined) =>
    answering('eth_call', ({ params: [call] }) => {
      const { data = '' } = call as { data?: string };
      if (data.startsWith('0x06fdde03')) return { result: texts('Odd Coin') };
      if (data.startsWith('0x95d89b41')) return { result: texts('ODDC') };
      if (data.startsWith('0x313ce567') && decimals !== undefined) return { result: wordOfHex(decimals) };
      if (data.startsWith('0x01ffc9a7') && isNft !== undefined)
        return { result: wordOfHex(Number(isNft && data.includes('80ac58cd'))) };
      return undefined;
    });

  test.for([
    ['without ERC-165', undefined],
    ['with ERC-165', false],
  ] as const)(
    'is an ERC-20 where the contract has decimals and is no ERC-721: %s',
    async ([, isNft], { service }) => {
      const run = await indexed(service, { blocks: around(odd), ...contractOf(isNft, 18) });
      expect((await run.texts(payer))[1]).toBe('[token send] Sent 10 ODDC to 0xb2...b2b2');
      expect((await run.of(payer)).records[1]).toMatchObject({
        nft_transfers: [],
        erc20_transfers: [{ value: String(10n ** 19n) }],
      });
      expect(await run.differences()).toEqual([]);
    },
  );

  test('is an amount in an approval of such a token too', async ({ service }) => {
    const approval = {
      address: token,
      topics: [approvalTopic, wordOfHex(payer), wordOfHex(payee), wordOfHex(10n ** 19n)],
      data: '0x',
    };
    const approved = { tx: { from: payer, to: token, input: '0x095ea7b3' }, logs: [approval] };
    const run = await indexed(service, { blocks: around(approved), ...contractOf(undefined, 18) });
    expect((await run.texts(payer))[1]).toBe('[approve] Approved 10 ODDC');
    expect(await run.differences()).toEqual([]);
  });

  test.for([
    ['no decimals', false, undefined],
    ['decimals, and says that it is an ERC-721', true, 0],
  ] as const)('is an ERC-721 where the contract has %s', async ([, isNft, decimals], { service }) => {
    const run = await indexed(service, { blocks: around(odd), ...contractOf(isNft, decimals) });
    expect((await run.of(payer)).records[1]).toMatchObject({ category: 'nft send', erc20_transfers: [] });
  });
});

describe('value that the protocol of Nitro moves outside of the code', () => {
  const alias = account('b3');
  const pool = account('fc');
  const deposit = {
    tx: { from: alias, to: payer, value: milliEth(3_000), type: '0x64', gas: '0x0', gasPrice: '0x0' },
    receipt: { gasUsed: '0x0' },
    trace: {
      type: 'CALL',
      from: alias,
      to: payer,
      value: milliEth(3_000),
      input: '0x',
      beforeEVMTransfers: [{ purpose: 'deposit', from: null, to: alias, value: milliEth(3_000) }],
      afterEVMTransfers: [],
    },
  };
  const redeem = {
    tx: {
      from: alias,
      to: contract,
      type: '0x68',
      gas: '0x186a0',
      gasPrice: hexOf(100_000_000),
      input: '0x12345678',
    },
    trace: {
      type: 'CALL',
      from: alias,
      to: contract,
      value: '0x0',
      input: '0x12345678',
      beforeEVMTransfers: [
        { purpose: 'prepaid', from: null, to: alias, value: hexOf(10n ** 13n) },
        { purpose: 'feePayment', from: alias, to: null, value: hexOf(10n ** 13n) },
      ],
      afterEVMTransfers: [{ purpose: 'refund', from: pool, to: payee, value: hexOf(3n * 10n ** 14n) }],
    },
  };
  const usual = {
    ...plain,
    trace: {
      type: 'CALL',
      ...plain.tx,
      input: '0x',
      beforeEVMTransfers: [{ purpose: 'feePayment', from: payer, to: null, value: hexOf(10n ** 13n) }],
      afterEVMTransfers: [
        { purpose: 'gasRefund', from: null, to: payer, value: hexOf(10n ** 12n) },
        { purpose: 'feeCollection', from: null, to: pool, value: hexOf(10n ** 12n) },
      ],
    },
  };

  test('has rows, and charges no fee that was paid in advance', async ({ service }) => {
    const run = await indexed(service, { blocks: around(deposit, redeem) }, { traces: 'debug' });
    expect((await run.texts(payee))[1]).toBe('[receive] Received 0.0003 ETH from 0xfc...fcfc');
    expect((await run.texts(payer))[1]).toBe('[receive] Received 3 ETH from 0xb3...b3b3');
    expect(await run.sums(alias)).toMatchObject({ movements: '0', fees: '0' });
    expect((await run.of(payee)).traces).toBe('all');
    expect(await run.differences()).toEqual([]);
  });

  test('counts a usual fee once', async ({ service }) => {
    const run = await indexed(service, { blocks: around(usual) }, { traces: 'debug' });
    expect(await run.sums(payer)).toMatchObject({
      fees: '42000000000000',
      movements: String(-6n * 10n ** 17n),
    });
  });

  test('is incomplete where a transfer has no value', async ({ service }) => {
    const nameless = { purpose: 'something new', from: pool, to: payee };
    const odd = { ...redeem, trace: { ...redeem.trace, afterEVMTransfers: [nameless] } };
    const run = await indexed(service, { blocks: around(odd) }, { traces: 'debug' });
    expect((await run.of(alias)).traces).toBe('some');
  });

  test('is not charged to who redeems where there are no traces either', async ({ service }) => {
    const run = await indexed(service, {
      blocks: around({ ...redeem, tx: { ...redeem.tx, ticketId: '0x4' } }),
    });
    expect(await run.sums(alias)).toMatchObject({ fees: '0' });
  });

  test('is credited by a deposit that fails', async ({ service }) => {
    const failed = {
      ...deposit,
      receipt: { gasUsed: '0x0', status: '0x0' },
      trace: { ...deposit.trace, error: 'reverted' },
    };
    const run = await indexed(service, { blocks: around(failed) }, { traces: 'debug' });
    expect(await run.sums(alias)).toMatchObject({ movements: String(3n * 10n ** 18n) });
  });
});

describe('an index that begins in the middle of a chain', () => {
  /** The payer has the contract pay 0.4 ETH to the payee, which it had before. */
  const spent: OddTransaction = {
    ...inner,
    tx: { ...inner.tx, value: '0x0' },
    trace: { ...inner.trace, value: '0x0' },
  };
  const early = '0x1';
  const balances =
    (before: Answer): NonNullable<OddChain['answer']> =>
    ({ method, params: [address, at] }) => {
      if (method !== 'eth_getBalance' || address !== contract) return undefined;
      return at === early ? before : { result: '0x0' };
    };
  const gone = failure(-32000, 'missing trie node');
  const untraced = { reason: 'untraced_blocks', amount: null, count: '3' };
  const rewards = { reason: 'rewards_unknown', amount: null, count: '3' };
  const hadBefore = (amount: string | null) => ({ reason: 'before_first_block', amount, count: null });

  test.for([
    ['it had something', { result: milliEth(400) }, [hadBefore('400000000000000000'), untraced]],
    ['no node knows what it had', gone, [hadBefore(null), untraced, rewards]],
  ] as const)(
    'calls no balance equal of which it lost both sides: before it, %s',
    async ([_name, answer, reasons], { service }) => {
      const chain = { blocks: around(spent), answer: balances(answer) };
      const run = await indexed(service, chain, { from: '2' });
      expect(await run.sums(contract)).toMatchObject({ difference: '0', status: 'explained', reasons });
    },
  );

  test('calls a balance equal where nothing that could be missing is, or where it had nothing before', async ({
    service,
  }) => {
    const paid = { ...inner, trace: { ...inner.trace, calls: [] }, tx: { ...inner.tx, value: '0x0' } };
    const whole = await indexed(
      service,
      { blocks: around({ ...paid, trace: { ...paid.trace, value: '0x0' } }), answer: balances(gone) },
      { from: '2', traces: 'debug' },
    );
    expect(await whole.sums(contract)).toMatchObject({ status: 'equal', reasons: [] });
    const without = { blocks: around(paid), answer: balances({ result: '0x0' }) };
    const some = await indexed(service, without, { from: '2' });
    expect(await some.sums(contract)).toMatchObject({ status: 'equal', reasons: [] });
  });

  test.for(['nft', 'wallet/history'])(
    '%s: has no list as of a block that it did not read, and says up to which one it is',
    async (path, { service }) => {
      const run = await indexed(service, { blocks: around(plain) }, { from: '2' });
      const refused = await run.get(path, { address: payer, toBlock: '1' }).expect(400);
      const message = 'Block 1 is not in the index of this network';
      expect(refused.body).toMatchObject({
        code: 'block_not_indexed',
        errors: [{ in: 'query', name: 'toBlock', message }],
      });
      for (const [asked, told] of [
        ['2', '2'],
        ['3', '3'],
        ['999', '4'],
      ] as const) {
        const { body, headers } = await run.get(path, { address: payer, toBlock: asked }).expect(200);
        expect((body.history ?? body).coverage).toMatchObject({ from_block: '2', to_block: told });
        expect(headers['x-index-block-number']).toBe('4');
      }
    },
  );

  test('says of no NFT list whole that it did not read', async ({ service }) => {
    const run = await indexed(service, { blocks: around(plain) }, { from: '2' });
    const { body } = await run.get('nft', { address: payer, toDate: '1990-01-01' }).expect(200);
    expect(body.coverage.nft_amounts).toBe('since_start');
    const now = (await run.get('nft', { address: payer }).expect(200)).body;
    expect(now.coverage.nft_amounts).toBe('whole');
  });
});
