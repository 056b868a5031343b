import { Interface } from 'ethers';
import { type ChainRpc, createChainRpc } from '../../src/local/programs/chain-rpc.ts';

type Transaction = Readonly<Record<'hash' | 'from' | 'value' | 'nonce' | 'transactionIndex', string>> & {
  readonly to: string | null;
};
type Log = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex: string;
};
type Receipt = { readonly status: string; readonly gasUsed: string; readonly logs: readonly Log[] };
type Call = {
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly error?: string;
  readonly calls?: readonly Call[];
};

/** One transaction, as the node tells of it. Addresses are in lower case. */
export type Told = Transaction & {
  readonly block: { readonly number: string; readonly hash: string };
  readonly receipt: Receipt;
  readonly tokens: readonly Moved[];
  /** Value that moved, inside the transaction too. */
  readonly native: readonly { readonly from: string; readonly to: string; readonly value: bigint }[];
};

export type Moved = {
  readonly contract: string;
  readonly from: string;
  readonly to: string;
  /** Undefined of a token that has amounts only. */
  readonly id: bigint | undefined;
  readonly amount: bigint;
  readonly place: readonly [block: number, log: number];
};

const events = new Interface([
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 amount)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] amounts)',
]);
const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Every transaction of a chain in its order, from nothing but the node's own answers. */
export async function askChain(rpcUrl: string): Promise<Told[]> {
  const rpc = createChainRpc(rpcUrl);
  const newest = Number(await rpc.call('eth_blockNumber'));
  const told: Told[] = [];
  for (let number = 0; number <= newest; number += 1) {
    const block = (await rpc.call('eth_getBlockByNumber', `0x${number.toString(16)}`, true)) as {
      number: string;
      hash: string;
      transactions: Transaction[];
    }; // the node's block
    told.push(...(await tell(rpc, block)));
  }
  return told;
}

async function tell(
  rpc: ChainRpc,
  { transactions, ...block }: Told['block'] & { readonly transactions: readonly Transaction[] },
): Promise<Told[]> {
  const each = (method: string, ...more: unknown[]) =>
    rpc.batch(transactions.map(({ hash }) => ({ method, params: [hash, ...more] })));
  const receipts = (await each('eth_getTransactionReceipt')) as Receipt[]; // the node's receipts
  const traces = (await each('debug_traceTransaction', { tracer: 'callTracer' })) as Call[]; // its traces
  return transactions.map((transaction, index) => {
    const [receipt, trace] = [receipts[index], traces[index]];
    if (receipt === undefined || trace === undefined) throw new Error('the node told less than it was asked');
    const tokens = receipt.logs.flatMap((log) => movedBy(log, Number(block.number)));
    return { ...transaction, block, receipt, tokens, native: nativeOf(trace) };
  });
}

/** A call that failed moved nothing, nor did those within it. */
function nativeOf({ from, to, value = '0x0', error, calls = [] }: Call): Told['native'] {
  if (error !== undefined) return [];
  const own = to !== undefined && BigInt(value) > 0n ? [{ from, to, value: BigInt(value) }] : [];
  return [...own, ...calls.flatMap(nativeOf)];
}

function movedBy({ address: contract, topics, data, logIndex }: Log, block: number): Moved[] {
  const place = [block, Number(logIndex)] as const;
  const [topic, first = '', second = '', third] = topics;
  if (topic === transfer) {
    const ends = { contract, from: addressOf(first), to: addressOf(second), place };
    return [
      third === undefined
        ? { ...ends, id: undefined, amount: BigInt(data) }
        : { ...ends, id: BigInt(third), amount: 1n },
    ];
  }
  const event = events.parseLog({ topics, data });
  if (event === null) return [];
  const [, from, to, ids, amounts] = event.args.toArray();
  const [everyId, everyAmount]: bigint[][] =
    event.name === 'TransferSingle' ? [[ids], [amounts]] : [[...ids], [...amounts]];
  return (everyId ?? []).map((id, part) => ({
    ...{ contract, from: from.toLowerCase(), to: to.toLowerCase(), place },
    ...{ id, amount: everyAmount?.[part] ?? 0n },
  }));
}

const addressOf = (topic: string) => `0x${topic.slice(-40)}`;
