import { id, keccak256 } from 'ethers';
import { describe, expect } from 'vitest';
import { refreshContracts } from '../../src/providers/indexer/store/tokens/contract-store.ts';
import {
  findIndexState,
  type TraceMethod,
} from '../../src/providers/indexer/store/write/index-state-store.ts';
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
import { account, approvalLog, firstOf, nftLog, tokensAnswer, transferLog } from '../support/odd-tokens.ts';
import type { TestService } from '../support/service.ts';

const [payer, payee, third, token, collection] = ['a1', 'b2', 'c3', '70', '71'].map(account) as [
  ...[string, string, string, string, string],
];
const coin = tokensAnswer(() => ({ name: 'Coin', symbol: 'T', decimals: 18 }));
const unit = 10n ** 18n;

type How = {
  readonly traces?: TraceMethod;
  readonly nativeAsset?: string;
  readonly others?: readonly OddChain[];
};

/** Indexes the odd block between two plain blocks. */
async function indexed(
  service: TestService,
  odd: OddBlock,
  answer: OddChain['answer'] = coin,
  how: How = {},
) {
  const chain = { blocks: chainAround(odd, { payer, payee }), answer };
  const settings = { indexTraces: how.traces ?? 'none', nativeAsset: how.nativeAsset ?? null } as const;
  const run = await startOddIndex(service, [chain, ...(how.others ?? [])], settings);
  await run.follow();
  await run.fill();
  const history = (address: string) => run.get('wallet/history', { address, order: 'ASC' }).expect(200);
  return {
    ...run,
    async of(address: string) {
      const { body, headers } = await history(address);
      const records = body.history.result.filter(
        ({ block_number }: { block_number: string }) => block_number === '2',
      );
      return { records, traces: headers['x-index-traces'] };
    },
    async texts(address: string): Promise<string[]> {
      const { body } = await history(address);
      return body.history.result
        .filter(({ block_number }: { block_number: string }) => block_number === '2')
        .map(({ category, summary }: { category: string; summary: string }) => `[${category}] ${summary}`);
    },
    sums: async (address: string) => (await run.get('wallet/reconciliation', { address }).expect(200)).body,
    state: () => findIndexState(service.db, run.network.chainId),
  };
}

const tokenCall = (logs: OddTransaction['logs'], more: Partial<OddTransaction> = {}): OddTransaction => ({
  tx: { from: payer, to: token, input: '0xa9059cbb' },
  logs: logs ?? [],
  ...more,
});

/** The bloom filter of logs, as the yellow paper defines it. */
function bloomOf(logs: readonly { readonly address: string; readonly topics: readonly string[] }[]): string {
  let bits = 0n;
  for (const item of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const hash = keccak256(item);
    for (const at of [2, 6, 10]) bits |= 1n << (BigInt(`0x${hash.slice(at, at + 4)}`) & 2047n);
  }
  return `0x${bits.toString(16).padStart(512, '0')}`;
}

describe('receipts without logs that their bloom filter promises', () => {
  const sent = transferLog(token, payer, payee, 5n * unit);
  const more = transferLog(token, payer, third, 2n * unit);
  const bloom = bloomOf([sent, more]);
  /** Receipts of the odd block as a node gives them, the first times without some logs. */
  const early = (kept: number, times: number): NonNullable<OddChain['answer']> => {
    let asked = 0;
    return ({ method, block }) => {
      if (method !== 'eth_getBlockReceipts' || block?.block.number !== '0x2') return undefined;
      asked += 1;
      if (asked > times) return undefined;
      return {
        result: block.receipts.map((receipt) => ({
          ...receipt,
          logs: (receipt['logs'] as object[]).slice(0, kept),
        })),
      };
    };
  };
  const odd = (where: 'receipt' | 'block'): OddBlock => ({
    transactions: [tokenCall([sent, more], where === 'receipt' ? { receipt: { logsBloom: bloom } } : {})],
    ...(where === 'block' && { fields: { logsBloom: bloom } }),
  });

  test.for([
    ['of a receipt, none came', 'receipt', 0],
    ['of a receipt, some came', 'receipt', 1],
    ['of the block, none came', 'block', 0],
    ['of the block, some came', 'block', 1],
  ] as const)('are asked for again: %s', async ([, where, kept], { service }) => {
    const run = await indexed(service, odd(where), firstOf(early(kept, 1), coin));
    expect(await run.texts(payee)).toEqual(['[token receive] Received 5 T from 0xa1...a1a1']);
    expect(await run.texts(third)).toEqual(['[token receive] Received 2 T from 0xa1...a1a1']);
    expect(await run.state()).toMatchObject({ incompleteBlocks: 0n });
  });

  test('are asked for again where a node gives receipts one by one', async ({ service }) => {
    let asked = 0;
    const singly: NonNullable<OddChain['answer']> = ({ method, params: [hash], receipt }) => {
      if (method === 'eth_getBlockReceipts') return failure(-32601, 'in whatever words');
      if (method !== 'eth_getTransactionReceipt' || receipt?.['logsBloom'] !== bloom) return undefined;
      asked += 1;
      return asked > 1 ? undefined : { result: { ...receipt, transactionHash: hash, logs: [] } };
    };
    const run = await indexed(service, odd('receipt'), firstOf(singly, coin));
    expect(await run.texts(payee)).toEqual(['[token receive] Received 5 T from 0xa1...a1a1']);
    expect(asked).toBe(2);
    expect(await run.state()).toMatchObject({ incompleteBlocks: 0n });
  });

  test('are asked of another node', async ({ service }) => {
    const other = { blocks: chainAround(odd('receipt'), { payer, payee }) };
    const run = await indexed(service, odd('receipt'), firstOf(early(0, 99), coin), { others: [other] });
    expect(await run.texts(payee)).toEqual(['[token receive] Received 5 T from 0xa1...a1a1']);
    expect(run.nodes[1]?.count('eth_getBlockReceipts')).toBeGreaterThan(0);
  });

  test('are accepted in the end and counted, and a network where it is always so is remembered', async ({
    service,
  }) => {
    const full = `0x${'f'.repeat(512)}`;
    const blocks = Array.from({ length: 12 }, () => ({
      transactions: [{ tx: { from: payer, to: payee, value: milliEth(1) } }],
      fields: { logsBloom: full },
    }));
    const run = await startOddIndex(service, [{ blocks }]);
    await run.follow();
    expect(await findIndexState(service.db, run.network.chainId)).toMatchObject({
      head: { number: 11n },
      incompleteBlocks: 12n,
    });
    // Not each of them four times.
    expect(run.nodes[0]?.count('eth_getBlockReceipts')).toBeLessThan(12 * 4);
  }, 30_000);

  test('say nothing where the filter is empty, or has the bits of their logs', async ({ service }) => {
    const blocks = [{}, odd('receipt'), {}] as const;
    const run = await startOddIndex(service, [{ blocks, answer: coin }]);
    await run.follow();
    expect(run.nodes[0]?.count('eth_getBlockReceipts')).toBe(1);
  });
});

describe('the outermost frame of a trace', () => {
  const paid: OddTransaction = {
    tx: { from: payer, to: third, value: milliEth(1_420), input: '0x3a274ff6' },
  };
  const root = { type: 'CALL', from: payer, to: third, value: milliEth(1_420), input: '0x3a274ff6' };
  const inside = { type: 'CALL', from: third, to: payee, value: milliEth(400), input: '0x' };
  const flat = (frame: Readonly<Record<string, unknown>>, error?: string) => ({
    type: 'call',
    action: { callType: 'call', from: frame['from'], to: frame['to'], value: frame['value'] },
    traceAddress: [],
    ...(error === undefined ? { result: {} } : { error }),
  });
  const dialects: [TraceMethod, (frame: typeof root, error?: string) => NonNullable<OddChain['answer']>][] = [
    [
      'debug',
      (frame, error) =>
        ({ method, block }) =>
          method === 'debug_traceBlockByHash' && block?.block.number === '0x2'
            ? { result: [{ result: { ...frame, error, calls: [inside] } }] }
            : undefined,
    ],
    [
      'trace',
      (frame, error) =>
        ({ method, block }) =>
          method === 'trace_block'
            ? {
                result: (block?.frames ?? []).map((own, transactionPosition) => ({
                  ...(block?.block.number === '0x2' ? flat(frame, error) : flat(own)),
                  transactionPosition,
                })),
              }
            : undefined,
    ],
  ];
  const lies: [string, typeof root, string?][] = [
    ['another value', { ...root, value: '0x0' }],
    ['another outcome', root, 'sfc tx'],
    ['another value and outcome', { ...root, value: '0x0' }, 'sfc tx'],
    ['another sender', { ...root, from: payee }],
    ['another recipient', { ...root, to: payee }],
  ];
  test.for(
    dialects.flatMap(([traces, answer]) =>
      lies.map(([name, ...lie]) => [name, traces, answer, lie] as const),
    ),
  )(
    'that has %s than transaction and receipt does not count: %s',
    async ([, traces, answer, lie], { service }) => {
      const run = await indexed(service, { transactions: [paid] }, answer(...lie), { traces });
      const { records, traces: known } = await run.of(payer);
      expect(records).toMatchObject([{ summary: 'Sent 1.42 ETH to 0xc3...c3c3' }]);
      expect(known).toBe('some');
      expect((await run.sums(payer)).reasons).toContainEqual({
        reason: 'untraced_blocks',
        amount: null,
        count: '1',
      });
    },
  );

  test.for(dialects)('that is the transaction counts: %s', async ([traces, answer], { service }) => {
    const run = await indexed(service, { transactions: [paid] }, answer(root), { traces });
    expect((await run.of(payer)).traces).toBe('all');
  });
});

describe('logs', () => {
  const ofA = tokenCall([transferLog(token, payer, third, 5n * unit)]);
  const ofB = {
    ...tokenCall([transferLog(token, payee, third, 2n * unit)]),
    tx: { from: payee, to: token, input: '0xa9059cbb' },
  };
  const mixed: NonNullable<OddChain['answer']> = ({ method, block }) => {
    if (method !== 'eth_getBlockReceipts' || block === undefined) return undefined;
    const logs = block.receipts.flatMap((receipt) => receipt['logs'] as object[]);
    return { result: block.receipts.map((receipt) => ({ ...receipt, logs })) };
  };

  test('that name another transaction are left out', async ({ service }) => {
    const run = await indexed(service, { transactions: [ofA, ofB] }, firstOf(mixed, coin));
    expect(await run.texts(payer)).toEqual(['[token send] Sent 5 T to 0xc3...c3c3']);
    expect(await run.texts(payee)).toEqual(['[token send] Sent 2 T to 0xc3...c3c3']);
    expect(await run.texts(third)).toHaveLength(2);
  });

  test('that name another transaction are left out of single receipts, too', async ({ service }) => {
    let all: unknown[] = [];
    const singly: NonNullable<OddChain['answer']> = ({ method, block, receipt }) => {
      if (method === 'eth_getBlockReceipts') {
        if (block?.block.number === '0x2') all = block.receipts.flatMap((each) => each['logs'] as object[]);
        return failure(-32601, 'in whatever words');
      }
      if (method !== 'eth_getTransactionReceipt' || receipt?.['blockNumber'] !== '0x2') return undefined;
      return { result: { ...receipt, logs: all } };
    };
    const run = await indexed(service, { transactions: [ofA, ofB] }, firstOf(singly, coin));
    expect(await run.texts(payer)).toEqual(['[token send] Sent 5 T to 0xc3...c3c3']);
    expect(await run.texts(payee)).toEqual(['[token send] Sent 2 T to 0xc3...c3c3']);
    expect(await run.texts(third)).toHaveLength(2);
  });

  test.for([
    ['null', null],
    ['zeros', `0x${'0'.repeat(64)}`],
    ['in capitals', 'upper'],
  ] as const)('that name no other transaction stay: %s', async ([, transactionHash], { service }) => {
    const renamed: NonNullable<OddChain['answer']> = ({ method, block }) =>
      method === 'eth_getBlockReceipts' && block !== undefined
        ? {
            result: block.receipts.map((receipt) => ({
              ...receipt,
              logs: (receipt['logs'] as object[]).map((log) => ({
                ...log,
                transactionHash:
                  transactionHash === 'upper'
                    ? String(receipt['transactionHash']).toUpperCase().replace('0X', '0x')
                    : transactionHash,
              })),
            })),
          }
        : undefined;
    const run = await indexed(service, { transactions: [ofA] }, firstOf(renamed, coin));
    expect(await run.texts(payer)).toEqual(['[token send] Sent 5 T to 0xc3...c3c3']);
  });

  test.for([
    ['a token', transferLog(token, payer, payee, 5n * unit)],
    ['an NFT', nftLog(collection, payer, payee, 7n)],
    ['an approval', approvalLog(token, payer, payee, 5n)],
  ] as const)('of a failed transaction move nothing: %s', async ([, log], { service }) => {
    const minted = {
      tx: { from: payer, to: collection, input: '0x1249c58b' },
      logs: [nftLog(collection, `0x${'0'.repeat(40)}`, payer, 7n)],
    };
    const failed = {
      tx: { from: third, to: token, input: '0x12345678' },
      receipt: { status: '0x0' },
      logs: [log],
    };
    const answer = tokensAnswer((contract) =>
      contract === collection
        ? { name: 'Cask', symbol: 'CASK', isNft: true, owner: () => payer }
        : { name: 'Coin', symbol: 'T', decimals: 18 },
    );
    const run = await indexed(service, { transactions: [minted, failed] }, answer);
    expect(await run.texts(payee)).toEqual([]);
    expect(await run.texts(payer)).toEqual(['[mint] Minted CASK #7']);
    expect((await run.of(third)).records).toMatchObject([
      { receipt_status: '0', erc20_transfers: [], nft_transfers: [] },
    ]);
    const nftsOf = async (address: string) => (await run.get('nft', { address }).expect(200)).body.result;
    expect(await nftsOf(payer)).toMatchObject([{ token_id: '7' }]);
    expect(await nftsOf(payee)).toEqual([]);
    // Nor does a search find it.
    const found = { address: payee, token: log.address };
    expect((await run.get('wallet/history', found).expect(200)).body.history.result).toEqual([]);
    const { body } = await run.get('wallet/approvals', { address: payer }).expect(200);
    expect(body.result).toEqual([]);
  });

  test.for([
    ['a token', transferLog(token, payer, payee, 5n * unit)],
    ['an NFT', nftLog(collection, payer, payee, 7n)],
    ['an approval', approvalLog(token, payer, payee, 5n)],
  ] as const)(
    'of a transaction without a status move nothing where its trace failed: %s',
    async ([, log], { service }) => {
      const failed: OddTransaction = {
        tx: { from: payer, to: token, input: '0x12345678' },
        receipt: { status: undefined },
        logs: [log],
        trace: {
          type: 'CALL',
          from: payer,
          to: token,
          value: '0x0',
          input: '0x12345678',
          error: 'out of gas',
        },
      };
      const run = await indexed(service, { transactions: [failed] }, coin, { traces: 'debug' });
      expect((await run.of(payer)).records).toMatchObject([
        { receipt_status: '0', erc20_transfers: [], nft_transfers: [], approvals: [] },
      ]);
      expect(await run.texts(payee)).toEqual([]);
    },
  );

  test('of a failed transaction are those of the token that pays its fee', async ({ service }) => {
    const pays = transferLog(token, payer, third, 21_000n * 10n ** 9n);
    const failed: OddTransaction = {
      tx: { from: payer, to: collection, input: '0x12345678', feeToken: token },
      receipt: { status: '0x0' },
      logs: [transferLog(token, payer, payee, 5n * unit), approvalLog(token, payer, payee, 5n), pays],
    };
    const run = await indexed(service, { transactions: [failed] });
    const [record] = (await run.of(payer)).records;
    expect(record.erc20_transfers).toMatchObject([{ to_address: third, value: '21000000000000' }]);
    expect(record.approvals).toEqual([]);
    expect(await run.texts(payee)).toEqual([]);
  });
});

describe('a transfer whose form is that of another standard', () => {
  const bigId = 2n ** 255n + 7n;
  const named = { name: 'Pandora', symbol: 'PANDORA', decimals: 18, isNft: false } as const;
  const both = [transferLog(token, payer, payee, unit), nftLog(token, payer, payee, bigId)];

  test.for([
    ['reverts', undefined],
    ['answers', () => payee],
  ] as const)('is amount and id of an ERC-404 whose ownerOf %s', async ([, owner], { service }) => {
    const answer = tokensAnswer(() => ({ ...named, ...(owner && { owner }) }));
    const run = await indexed(service, { transactions: [tokenCall(both)] }, answer);
    const { records } = await run.of(payer);
    expect(records).toMatchObject([
      { erc20_transfers: [{ value: String(unit) }], nft_transfers: [{ token_id: String(bigId) }] },
    ]);
    expect(records[0].summary).not.toMatch(/\d{12}/);
    expect(records[0].summary).toContain('1 PANDORA');
  });

  test('is an id where the id has an owner before or after the block only', async ({ service }) => {
    const seen: string[] = [];
    for (const place of [0, 1]) {
      const owner = (block: unknown) => {
        const hash = (block as { blockHash?: string }).blockHash;
        if (hash !== undefined && !seen.includes(hash)) seen.push(hash);
        return hash !== undefined && seen.indexOf(hash) % 2 === place ? payee : undefined;
      };
      const answer = tokensAnswer(() => ({ ...named, owner }));
      seen.length = 0;
      const run = await indexed(
        service,
        { transactions: [tokenCall([nftLog(token, payer, payee, bigId)])] },
        answer,
      );
      expect((await run.of(payer)).records).toMatchObject([{ category: 'nft send', erc20_transfers: [] }]);
    }
  });

  test('is an amount where no id has an owner, also in an approval', async ({ service }) => {
    const answer = tokensAnswer(() => named);
    const run = await indexed(
      service,
      { transactions: [tokenCall([nftLog(token, payer, payee, 10n * unit)])] },
      answer,
    );
    expect(await run.texts(payer)).toEqual(['[token send] Sent 10 PANDORA to 0xb2...b2b2']);
  });

  test.for([
    ['no owner, though it says that it is an ERC-721', { isNft: true }, 'amount'],
    ['the zero address as the owner', { owner: () => `0x${'0'.repeat(40)}` }, 'amount'],
    ['no address as the owner', { owner: () => `0x${'f'.repeat(64)}` }, 'amount'],
    ['an owner, though it says that it is no ERC-721', { owner: () => payee }, 'id'],
    ['an owner, and decimals of an NFT', { isNft: true, decimals: 0, owner: () => payee }, 'id'],
    ['no owner any more, and decimals of an NFT', { isNft: true, decimals: 0 }, 'id'],
  ] as const)(
    'of a contract with decimals is what its ids say: %s',
    async ([, claims, right], { service }) => {
      const answer = tokensAnswer(() => ({ ...named, ...claims }));
      const log = nftLog(token, payer, payee, 10n * unit);
      const run = await indexed(service, { transactions: [tokenCall([log])] }, answer);
      expect((await run.of(payer)).records).toMatchObject([
        right === 'amount'
          ? { summary: 'Sent 10 PANDORA to 0xb2...b2b2', nft_transfers: [] }
          : { category: 'nft send', erc20_transfers: [] },
      ]);
    },
  );

  const inData = transferLog(collection, payer, payee, 7n);
  const approvedInData = approvalLog(collection, payer, payee, bigId);
  test.for([
    ['three topics', inData],
    [
      'two topics',
      { ...inData, topics: inData.topics.slice(0, 2), data: `${wordOfHex(payee)}${wordOfHex(7).slice(2)}` },
    ],
  ] as const)('is an NFT of an ERC-721 with %s and no decimals', async ([, log], { service }) => {
    const answer = tokensAnswer(() => ({ name: 'Cask', symbol: 'CASK', isNft: true }));
    const run = await indexed(service, { transactions: [tokenCall([log])] }, answer);
    expect(await run.texts(payer)).toEqual(['[nft send] Sent CASK #7 to 0xb2...b2b2']);
  });

  test('is never "unlimited" in an approval of one NFT', async ({ service }) => {
    const answer = tokensAnswer(() => ({ name: 'Cask', symbol: 'CASK', isNft: true }));
    const run = await indexed(service, { transactions: [tokenCall([approvedInData])] }, answer);
    expect(await run.texts(payer)).toEqual(['[approve] Approved CASK #5789...9975']);
  });

  test('with two topics is an amount like any other', async ({ service }) => {
    const log = {
      ...inData,
      address: token,
      topics: inData.topics.slice(0, 2),
      data: `${wordOfHex(payee)}${wordOfHex(3n * unit).slice(2)}`,
    };
    const run = await indexed(service, { transactions: [tokenCall([log])] });
    expect(await run.texts(payer)).toEqual(['[token send] Sent 3 T to 0xb2...b2b2']);
  });
});

describe('value outside of transactions', () => {
  const asset = '0x000000000000000000000000000000000000800a';
  const mint = (to: string, value: bigint) => ({
    address: asset,
    topics: [id('Mint(address,uint256)'), wordOfHex(to)],
    data: wordOfHex(value),
  });
  const deposit = (to: string, logs: OddTransaction['logs']): OddTransaction => ({
    tx: { from: payer, to, value: hexOf(unit), type: '0xff', gasPrice: '0x5f5e100' },
    receipt: { gasUsed: '0x2dc6c0' },
    logs: logs ?? [],
  });

  test.for([
    [
      'to the own account',
      deposit(payer, [mint(payer, unit), transferLog(asset, payer, payer, unit), mint(payer, 10n ** 14n)]),
      payer,
      '1000100000000000000',
    ],
    [
      'to another account',
      deposit(third, [mint(payer, unit), transferLog(asset, payer, third, unit)]),
      third,
      String(unit),
    ],
    ['that is minted to another account', deposit(third, [mint(third, unit)]), third, String(unit)],
  ] as const)('is a deposit of zkSync %s, without a fee', async ([, odd, receiver, moved], { service }) => {
    const plain = 500_000_000_000_000_000n;
    const fee = 21_000_000_000_000n;
    // Beside the deposit, the payer has paid 1 ETH with its fee, and got a half back.
    const held = BigInt(moved) - (receiver === payer ? plain + fee : 0n);
    const balance = ({ method, params: [, state] }: Asked): Answer | undefined =>
      method === 'eth_getBalance' ? { result: hexOf(state === '0x0' ? 0n : held) } : undefined;
    const run = await indexed(service, { transactions: [odd] }, balance, { nativeAsset: asset });
    const { records } = await run.of(receiver);
    expect(records).toMatchObject([{ category: 'receive', transaction_fee: '0' }]);
    expect(await run.sums(receiver)).toMatchObject({
      status: 'equal',
      movements: String(BigInt(moved) - (receiver === payer ? plain : 0n)),
      fees: receiver === payer ? '21000000000000' : '0',
    });
    // The sender of another account's deposit is not charged.
    expect(await run.sums(payer)).toMatchObject({ fees: '21000000000000' });
    if (receiver !== payer) expect((await run.sums(payer)).movements).toBe(String(-plain));
  });

  const zero = `0x${'0'.repeat(40)}`;
  const matic = '0x0000000000000000000000000000000000001010';
  const synced = {
    address: matic,
    topics: [id('Deposit(address,address,uint256,uint256,uint256)'), wordOfHex(matic), wordOfHex(payee)],
    data: `${wordOfHex(76_867n * 10n ** 15n)}${wordOfHex(0).slice(2)}${wordOfHex(76_867n * 10n ** 15n).slice(2)}`,
  };
  const outside: OddTransaction = {
    tx: { from: zero, to: zero, gas: '0x0', gasPrice: '0x0' },
    receipt: { gasUsed: '0x0', effectiveGasPrice: '0x0' },
    logs: [synced],
  };
  const untraced = (answer?: (asked: Asked) => Answer | undefined) =>
    firstOf<Answer>(
      ({ method, block }) =>
        method === 'debug_traceBlockByHash' && block?.block.number === '0x2'
          ? { result: block.transactions.map(({ hash: txHash }) => ({ txHash, result: null })) }
          : undefined,
      answer ?? (() => undefined),
    );

  test('is what the state sync of Polygon brings, which its log shows', async ({ service }) => {
    const run = await indexed(service, { transactions: [outside] }, untraced(), { traces: 'debug' });
    expect(await run.texts(payee)).toEqual(['[receive] Received 76.86 ETH from 0x00...1010']);
  });

  test('is unknown where a node has neither trace nor receipt of the state sync', async ({ service }) => {
    const bare = ({ method, block }: Asked): Answer | undefined => {
      if (method === 'eth_getTransactionReceipt') return { result: null };
      return method === 'eth_getBlockReceipts' && block?.block.number === '0x2' ? { result: [] } : undefined;
    };
    const run = await indexed(service, { transactions: [outside] }, untraced(bare), { traces: 'debug' });
    expect((await run.of(payee)).traces).toBe('some');
    expect((await run.sums(payee)).reasons).toContainEqual({
      reason: 'untraced_blocks',
      amount: null,
      count: '1',
    });
  });

  test('is what a precompile mints', async ({ service }) => {
    const minted = {
      address: '0x0200000000000000000000000000000000000001',
      topics: [id('NativeCoinMinted(address,address,uint256)'), wordOfHex(third), wordOfHex(payee)],
      data: wordOfHex(3n * unit),
    };
    const odd = { tx: { from: third, to: minted.address, input: '0x4f5aaaba' }, logs: [minted] };
    for (const address of [minted.address, account('ee')]) {
      const run = await indexed(
        service,
        { transactions: [{ ...odd, logs: [{ ...minted, address }] }] },
        undefined,
        { traces: 'debug' },
      );
      const texts = await run.texts(payee);
      expect(texts).toEqual(address === minted.address ? ['[receive] Received 3 ETH from 0x00...0000'] : []);
    }
  });

  const blob = {
    from: payer,
    to: payee,
    type: '0x3',
    gasPrice: hexOf(10n ** 9n),
    blobVersionedHashes: [`0x01${'ab'.repeat(31)}`],
  };
  test.for([
    ['neither', {}, null],
    ['gas alone', { blobGasUsed: '0x20000' }, null],
    ['a price alone', { blobGasPrice: '0x2' }, null],
    ['both', { blobGasUsed: '0x20000', blobGasPrice: hexOf(10n ** 9n) }, '0.000152072'],
  ] as const)(
    'has the fee of blobs, or none where the receipt has %s',
    async ([, receipt, fee], { service }) => {
      const run = await indexed(service, { transactions: [{ tx: blob, receipt }] });
      expect((await run.of(payer)).records).toMatchObject([
        { transaction_fee: fee, gas_price: '1000000000' },
      ]);
      const { fees } = await run.sums(payer);
      expect(fees).toBe(fee === null ? '21000000000000' : '173072000000000');
      if (fee === null) {
        const state = await service
          .db('native_sums')
          .where('chain_id', run.network.chainId)
          .sum('unknown_fees');
        expect(state).toEqual([{ sum: '1' }]);
      }
    },
  );

  test.for([
    ['0x1e', 30, 6_300_000_000_000n],
    ['0x63', 99, 20_790_000_000_000n],
    ['0x64', undefined, 21_000_000_000_000n],
  ] as const)('is a fee that two accounts share: %s', async ([feeRatio, percent, paid], { service }) => {
    const tx = { from: payer, to: payee, value: milliEth(100), type: '0x16', feePayer: third, feeRatio };
    const run = await indexed(service, { transactions: [{ tx }] });
    const [record] = (await run.of(payer)).records;
    expect(record).toMatchObject({ fee_payer: third, transaction_fee: '0.000021' });
    expect(record.fee_payer_percent).toBe(percent);
    expect((await run.sums(third)).fees).toBe(String(paid));
    expect((await run.sums(payer)).fees).toBe(String(42_000_000_000_000n - paid));
  });

  test('is no withdrawal above all that there is', async ({ service }) => {
    const withdrawals = [
      { index: '0x1', validatorIndex: '0x1', address: payee, amount: hexOf(2n ** 53n + 1n) },
    ];
    await expect(indexed(service, { fields: { withdrawals } })).rejects.toThrow(
      'withdrawals (their amounts must be in gwei)',
    );
  });
});

describe('texts of a token', () => {
  const sent = tokenCall([transferLog(token, payer, payee, 5n * unit)]);

  test.for([
    ['none', {}],
    ['no symbol, and decimals of 0', { name: 'Late', decimals: 0 }],
    ['no decimals', { name: 'Late', symbol: 'LATE' }],
  ] as const)('are read again where there were %s, after a minute', async ([, before], { service }) => {
    let texts: object = before;
    const run = await indexed(
      service,
      { transactions: [sent] },
      tokensAnswer(() => texts),
    );
    const rows = () => service.db('token_contracts').where('chain_id', run.network.chainId);
    const [{ rest }] = await rows().select(service.db.raw('extract(epoch FROM read_due - now()) AS rest'));
    expect(Number(rest)).toBeGreaterThan(50);
    expect(Number(rest)).toBeLessThanOrEqual(60);
    texts = { name: 'Late', symbol: 'LATE', decimals: 18 };
    await rows().update({ read_due: new Date(0) });
    await run.fill();
    expect(await run.texts(payer)).toEqual(['[token send] Sent 5 LATE to 0xb2...b2b2']);
  });

  test.for([
    ['the symbol', { symbol: 'RENDER' }, '[token send] Sent 5 RENDER to 0xb2...b2b2', 'Render Token'],
    ['the decimals', { decimals: 17 }, '[token send] Sent 50 RNDR to 0xb2...b2b2', 'Render Token'],
    ['the name', { name: 'Render' }, '[token send] Sent 5 RNDR to 0xb2...b2b2', 'Render'],
  ] as const)(
    'that change are read again at the word of the operator: %s',
    async ([, change, text, name], { service }) => {
      let texts = { name: 'Render Token', symbol: 'RNDR', decimals: 18 };
      const run = await indexed(
        service,
        { transactions: [sent] },
        tokensAnswer(() => texts),
      );
      texts = { ...texts, ...change };
      await run.fill();
      expect(await run.texts(payer)).toEqual(['[token send] Sent 5 RNDR to 0xb2...b2b2']);
      expect(await refreshContracts(service.db, run.network.chainId, token)).toBe(1);
      await run.fill();
      expect(await run.texts(payer)).toEqual([text]);
      expect((await run.of(payer)).records).toMatchObject([{ erc20_transfers: [{ token_name: name }] }]);
    },
  );

  test('that are missing later do not replace what was there', async ({ service }) => {
    let texts: object = { name: 'Coin', symbol: 'T', decimals: 18 };
    const run = await indexed(
      service,
      { transactions: [sent] },
      tokensAnswer(() => texts),
    );
    texts = {};
    expect(await refreshContracts(service.db, run.network.chainId, undefined)).toBe(1);
    await run.fill();
    expect(await run.texts(payer)).toEqual(['[token send] Sent 5 T to 0xb2...b2b2']);
  });
});

describe('a summary', () => {
  const long = 'A symbol of thirty-two characters';
  test('has at most 120 characters, whatever contracts write', async ({ service }) => {
    const logs = [token, collection].map((address) => transferLog(address, payer, payee, 2n ** 255n));
    const answer = tokensAnswer(() => ({ name: long, symbol: long, decimals: 0 }));
    const run = await indexed(service, { transactions: [tokenCall(logs)] }, answer);
    const [{ summary }] = (await run.of(payer)).records;
    expect(summary.length).toBeLessThanOrEqual(120);
    expect(summary).toMatch(/^Sent more than 10\^24 A symbol.*…$/);
  });
});

describe('what nobody reported', () => {
  test('is null, and no zero', async ({ service }) => {
    const tx = { from: payer, to: payee, nonce: undefined, gas: undefined };
    const run = await indexed(service, { transactions: [{ tx }] });
    expect((await run.of(payer)).records).toMatchObject([{ nonce: null, gas: null }]);
  });

  test('does not make traces of a network without any known, where heights have no block', async ({
    service,
  }) => {
    const run = await indexed(service, null);
    const { headers } = await run.get('wallet/history', { address: payer }).expect(200);
    expect(headers['x-index-traces']).toBe('none');
  });

  test.for([
    ['a value', { value: '0' }],
    ['an input', { input: '0x0' }],
    ['data', { input: undefined, data: '0x0' }],
  ] as const)('is not %s that is zero in another form', async ([, fields], { service }) => {
    const run = await indexed(service, { transactions: [{ tx: { from: payer, to: payee, ...fields } }] });
    expect(await run.texts(payer)).toEqual(['[send] Sent 0 ETH to 0xb2...b2b2']);
  });
});

describe('times of blocks that go back', () => {
  const begin = 1_760_000_000;
  const times = [1000, 1300, 1200, 1400, 1250, 1500];
  const at = (time: number, transactions: readonly OddTransaction[] = []): OddBlock => ({
    fields: { timestamp: hexOf(begin + time) },
    transactions,
  });
  const pay: OddTransaction = { tx: { from: payer, to: payee, value: milliEth(100) } };
  test.for([
    [1250, 1350, ['2', '5']],
    [1200, 1250, ['3', '5']],
    [1400, 1500, ['4', '6']],
    [1100, 1199, []],
    [1000, 1500, ['1', '2', '3', '4', '5', '6']],
  ] as const)('are found by date: from %i to %i', async ([from, to, blocks], { service }) => {
    const chain = { blocks: [at(0), ...times.map((time) => at(time, [pay])), at(1600)] };
    const run = await startOddIndex(service, [chain]);
    await run.follow();
    const date = (time: number) => new Date((begin + time) * 1_000).toISOString();
    const query = { address: payer, order: 'ASC', fromDate: date(from), toDate: date(to) };
    const { body } = await run.get('wallet/history', query).expect(200);
    expect(body.history.result.map(({ block_number }: { block_number: string }) => block_number)).toEqual(
      blocks,
    );
  });
});
