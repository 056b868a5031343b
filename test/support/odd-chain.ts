import { createHash } from 'node:crypto';
import { type Answer, failure, type Reply } from './node/flaw.ts';
import { startNode, type TestNode } from './node/node.ts';

const zeroes = `0x${'0'.repeat(64)}`;
export const hexOf = (value: bigint | number): string => `0x${BigInt(value).toString(16)}`;
export const milliEth = (count: number): string => hexOf(BigInt(count) * 10n ** 15n);
export const wordOfHex = (value: string | bigint | number): string =>
  `0x${(typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0')}`;
const hashOf = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

type Fields = Readonly<Record<string, unknown>>;

/** A transaction of a chain; what is left out is that of a plain transfer of 21,000 gas at 1 gwei. */
export type OddTransaction = {
  readonly tx: Fields & { readonly from: string; readonly to?: string | null };
  readonly receipt?: Fields;
  readonly logs?: readonly Fields[];
  /** The tree of frames that a `callTracer` gives. */
  readonly trace?: Fields;
};

/** A block; null is a height without one. */
export type OddBlock = { readonly fields?: Fields; readonly transactions?: readonly OddTransaction[] } | null;

/** What a node has of a block. */
type BuiltBlock = {
  readonly block: Fields & { readonly hash: string; readonly number: string; readonly parentHash: string };
  readonly transactions: readonly (Fields & { readonly hash: string; readonly from: string })[];
  readonly receipts: readonly Fields[];
  readonly frames: readonly Fields[];
};

export type Asked = {
  readonly method: string;
  readonly params: readonly unknown[];
  /** The block that the question names, by number or hash. */
  readonly block: BuiltBlock | undefined;
  /** The receipt of the transaction whose hash the question names. */
  readonly receipt: Fields | undefined;
  /** The newest block below a number without a block. */
  readonly before: object | undefined;
};

export type OddChain = {
  readonly blocks: readonly OddBlock[];
  /** Answers in place of the node; undefined lets the node answer. */
  readonly answer?: (asked: Asked) => Reply | undefined;
};

/** A, in `at`, pays B; in between is what is odd; then B pays A back half of it. */
export const chainAround = (
  odd: OddBlock,
  { payer, payee }: { payer: string; payee: string },
): OddBlock[] => [
  {},
  { transactions: [{ tx: { from: payer, to: payee, value: milliEth(1_000) } }] },
  odd,
  { transactions: [{ tx: { from: payee, to: payer, value: milliEth(500) } }] },
  {},
];

function build(chainId: string, blocks: readonly OddBlock[]): (BuiltBlock | null)[] {
  let parentHash = zeroes;
  return blocks.map((each, height) => {
    if (each === null) return null;
    const hash = hashOf(`${chainId} ${height}`);
    const number = hexOf(height);
    const place = { blockHash: hash, blockNumber: number };
    const listed = each.transactions ?? [];
    const transactions = listed.map(({ tx }, index) => ({
      ...place,
      transactionIndex: hexOf(index),
      hash: hashOf(`${chainId} ${height} ${index}`),
      nonce: hexOf(height * 10 + index),
      gas: '0x5208',
      gasPrice: hexOf(1_000_000_000),
      value: '0x0',
      input: '0x',
      type: '0x0',
      ...tx,
    }));
    let logIndex = 0;
    const receipts = transactions.map((transaction, index) => ({
      ...place,
      transactionHash: transaction.hash,
      transactionIndex: hexOf(index),
      from: transaction.from,
      to: transaction.to ?? null,
      status: '0x1',
      gasUsed: '0x5208',
      effectiveGasPrice: transaction.gasPrice,
      contractAddress: null,
      type: transaction.type,
      logs: (listed[index]?.logs ?? []).map((log) => {
        const at = { ...place, transactionHash: transaction.hash, transactionIndex: hexOf(index) };
        logIndex += 1;
        return { ...at, logIndex: hexOf(logIndex - 1), removed: false, data: '0x', ...log };
      }),
      ...listed[index]?.receipt,
    }));
    const frames = transactions.map(
      ({ from, to, value, input }, index) => listed[index]?.trace ?? { type: 'CALL', from, to, value, input },
    );
    const block = {
      number,
      hash,
      parentHash,
      timestamp: hexOf(1_760_000_000 + height * 12),
      miner: `0x${'cc'.repeat(20)}`,
      difficulty: '0x0',
      baseFeePerGas: hexOf(999_999_999),
      receiptsRoot: hashOf('receipts'),
      uncles: [],
      ...each.fields,
    };
    parentHash = hash;
    return { block, transactions, receipts, frames };
  });
}

/** Starts a node of a constructed chain, which traces by `debug_traceBlockByHash`. Other ways are up to `answer`. */
export async function startOddNode(
  chainId: string,
  { blocks, answer }: OddChain,
): Promise<TestNode & { readonly chainId: string }> {
  const built = build(chainId, blocks);
  const find = (name: unknown): BuiltBlock | undefined => {
    if (typeof name !== 'string') return undefined;
    if (['latest', 'safe', 'finalized', 'pending'].includes(name)) return built.at(-1) ?? undefined;
    if (name.length === 66) return built.find((each) => each?.block.hash === name) ?? undefined;
    return built[Number(BigInt(name))] ?? undefined;
  };
  const receiptOf = (hash: unknown) =>
    built.flatMap((each) => each?.receipts ?? []).find(({ transactionHash }) => transactionHash === hash);
  const before = (name: unknown) =>
    /^0x[0-9a-f]{1,16}$/.test(String(name))
      ? built
          .slice(0, Number(name))
          .flatMap((each) => (each ? [{ ...each.block, transactions: each.transactions }] : []))
          .at(-1)
      : undefined;
  const reply = (method: string, params: readonly unknown[]): Answer => {
    const [first] = params;
    const block = find(first);
    if (method === 'eth_chainId') return { result: hexOf(BigInt(chainId)) };
    if (method === 'eth_blockNumber') return { result: hexOf(built.length - 1) };
    if (method.startsWith('eth_getBlockBy')) {
      if (block === undefined) return { result: null };
      const { transactions } = block;
      return {
        result: {
          ...block.block,
          transactions: params[1] === true ? transactions : transactions.map(({ hash }) => hash),
        },
      };
    }
    if (method === 'eth_getBlockReceipts') return { result: block?.receipts ?? null };
    if (method === 'eth_getTransactionReceipt') return { result: receiptOf(first) ?? null };
    if (method === 'debug_traceBlockByHash')
      return {
        result:
          block?.frames.map((result, place) => ({ txHash: block.transactions[place]?.hash, result })) ?? null,
      };
    // Everybody had ten at first, and has nine.
    if (method === 'eth_getBalance') return { result: milliEth(params[1] === '0x0' ? 10_000 : 9_000) };
    if (method === 'eth_getCode') return { result: '0x' };
    if (method === 'eth_call') return failure(3, 'execution reverted');
    return failure(-32601, `the method ${method} does not exist/is not available`);
  };
  const node = await startNode(async ({ method, params }) => {
    const [first] = params;
    const asked = { method, params, block: find(first), receipt: receiptOf(first), before: before(first) };
    return answer?.(asked) ?? reply(method, params);
  });
  return { ...node, chainId };
}
