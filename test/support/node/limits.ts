import { formatEther, Transaction } from 'ethers';
import {
  askQuantity,
  type Flaw,
  failure,
  fieldOf,
  hexOf,
  of,
  quantityOf,
  type Reply,
  resultOf,
} from './flaw.ts';

/** How a node says that it knows no finalized block. */
export type NoFinalized = 'status 429' | 'not found' | 'unknown tag' | 'null';

/** A node that never says which block is finalized. */
export function noFinalized(how: NoFinalized): Flaw {
  const replies = {
    'status 429': { status: 429 },
    // geth, after a restart without its consensus client
    'not found': failure(-39001, 'finalized block not found'),
    'unknown tag': failure(-32602, 'invalid argument 0: hex string without 0x prefix'),
    null: { result: null },
  } as const;
  return of(['eth_getBlockByNumber'], async (call, pass) =>
    call.params[0] === 'finalized' || call.params[0] === 'safe' ? replies[how] : pass(call),
  );
}

const ether = 1_000_000_000_000_000_000n;

/** A node with `--rpc.txfeecap`: it refuses transactions whose gas limit times fee is above the cap, in wei. */
export const feeCap = (cap = ether): Flaw =>
  of(['eth_sendRawTransaction'], async (call, pass) => {
    const { gasLimit, maxFeePerGas, gasPrice } = Transaction.from(String(call.params[0]));
    const fee = gasLimit * (maxFeePerGas ?? gasPrice ?? 0n);
    const inEther = (wei: bigint) => Number(formatEther(wei)).toFixed(2);
    if (fee <= cap) return pass(call);
    return failure(
      -32000,
      `tx fee (${inEther(fee)} ether) exceeds the configured cap (${inEther(cap)} ether)`,
    );
  });

const pruned = failure(4444, 'pruned history unavailable');

/** A node without bodies, receipts and logs of blocks below this one, but of the genesis block's. */
export function prunedBefore(block: bigint): Flaw {
  const isGone = (number: bigint | undefined) => number !== undefined && number < block;
  return async (call, pass) => {
    const [first] = call.params;
    if (call.method === 'eth_getLogs') {
      const from = fieldOf(first, 'fromBlock');
      return from === 'earliest' || isGone(quantityOf(from)) ? pruned : pass(call);
    }
    if (call.method === 'eth_getBlockByNumber' || call.method === 'eth_getBlockReceipts') {
      return isGone(quantityOf(first)) && quantityOf(first) !== 0n ? pruned : pass(call);
    }
    if (call.method !== 'eth_getTransactionReceipt' && call.method !== 'eth_getTransactionByHash') {
      return pass(call);
    }
    const reply = await pass(call);
    // Transactions of those blocks are not in its index.
    return isGone(quantityOf(fieldOf(resultOf(reply), 'blockNumber'))) ? { result: null } : reply;
  };
}

/** A node that gives logs of this many blocks at once. */
export const rangesOf = (
  blocks: bigint,
  refusal = failure(-32005, `exceed maximum block range: ${blocks}`),
): Flaw =>
  of(['eth_getLogs'], async (call, pass) => {
    const [filter] = call.params;
    if (fieldOf(filter, 'blockHash') !== undefined) return pass(call);
    const head = await askQuantity(pass, 'eth_blockNumber');
    const numberOf = (name: string) => {
      const value = fieldOf(filter, name);
      return value === 'earliest' ? 0n : (quantityOf(value) ?? head);
    };
    return numberOf('toBlock') - numberOf('fromBlock') >= blocks ? refusal : pass(call);
  });

const stateMethods = ['eth_call', 'eth_getBalance', 'eth_getCode', 'eth_getTransactionCount'];

/** A node that has the state of this many newest blocks only. */
export const noArchive = (depth = 128n): Flaw =>
  of([...stateMethods, 'eth_estimateGas', 'eth_getStorageAt'], async (call, pass) => {
    const at = quantityOf(call.params[call.method === 'eth_getStorageAt' ? 2 : 1]);
    if (at === undefined) return pass(call);
    const head = await askQuantity(pass, 'eth_blockNumber');
    return at + depth > head
      ? pass(call)
      : failure(-32000, 'missing trie node 5a1f (path ) state 0x5a1f is not available, not found');
  });

/** A node without these methods, such as `eth_maxPriorityFeePerGas` or `eth_getBlockReceipts`. */
export const without = (...methods: readonly string[]): Flaw =>
  of(methods, ({ method }) => failure(-32601, `the method ${method} does not exist/is not available`));

/** The least tip that a node takes, and its words for less. */
export type TipFloor = { readonly least: bigint; readonly say: (tip: bigint, least: bigint) => string };

/** A node that takes no transaction with less of a tip, or with less of a gas price where it has no tip. */
export const tipFloor = ({ least, say }: TipFloor): Flaw =>
  of('eth_sendRawTransaction', (call, pass) => {
    const { maxPriorityFeePerGas, gasPrice } = Transaction.from(String(call.params[0]));
    const tip = maxPriorityFeePerGas ?? gasPrice ?? 0n;
    return tip >= least ? pass(call) : failure(-32000, say(tip, least));
  });

/** A node that does not know the `pending` block. */
export const withoutPending: Flaw = ({ params }) =>
  params.includes('pending') ? failure(-32602, 'invalid block tag') : undefined;

/**
 * A node that answers so many questions a second, counted from the last one that it answered.
 * @param refusal what it answers to the others
 */
export function allows(perSecond: number, refusal: Reply): Flaw {
  let freeAt = 0;
  return () => {
    if (performance.now() < freeAt) return refusal;
    freeAt = performance.now() + 1_000 / perSecond;
    return undefined;
  };
}

/** A node to which no block after this one is final. */
export const finalUpTo = (block: bigint): Flaw =>
  of('eth_getBlockByNumber', (call, pass) =>
    call.params[0] === 'finalized' ? pass({ ...call, params: [hexOf(block), false] }) : undefined,
  );

const inFlight = 'in-flight transaction limit reached for delegated accounts';
const gapped = 'gapped-nonce tx from delegated accounts';

/** What a node says to a transaction of a delegated account which waits behind another. */
export const delegationRefusals: readonly string[] = [inFlight, gapped];

/** A node that lets a delegated account (EIP-7702) have one transaction at a time, as geth does. */
export const oneOfDelegated: Flaw = of('eth_sendRawTransaction', async (call, pass) => {
  const { from, nonce } = Transaction.from(String(call.params[0]));
  const ask = (method: string, ...params: unknown[]) => pass({ method, params });
  const code = String(resultOf(await ask('eth_getCode', from, 'latest')));
  if (!code.startsWith('0xef0100')) return undefined;
  const countOf = (block: string) => askQuantity(pass, 'eth_getTransactionCount', [from, block]);
  const [mined, pending] = [await countOf('latest'), await countOf('pending')];
  if (BigInt(nonce) <= mined) return undefined;
  return failure(-32000, pending > mined ? inFlight : gapped);
});
