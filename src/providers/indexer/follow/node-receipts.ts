import type { JsonRpcApiProvider } from 'ethers';
import { quantity } from '../../../chain/rpc/transport/quantity.ts';
import type { BlockSource } from '../decode/decode-block.ts';
import type { BlockHeader } from '../decode/domain.ts';
import { fieldsOf, listOf, MalformedBlockError } from '../decode/hex.ts';
import { type RawBlock, type RawReceipt, type RawTransaction, readReceipt } from '../decode/raw-block.ts';
import { isOutside } from '../decode/traces.ts';
import { createBloomCheck } from './logs-bloom.ts';
import { isAtAll, isAtSome, isError, isLate, isTooLarge, isWithoutMethod } from './node-error.ts';

type BlockReceipts = Pick<BlockSource, 'receipts' | 'withoutReceipt' | 'isIncomplete'>;

type Whole = {
  /** Null where the node does not have them yet. */
  readonly receipts: readonly RawReceipt[] | null;
  /** Whether no node gives all receipts in one answer. */
  readonly isRefused: boolean;
  readonly hasOthers: boolean;
};

const refused: Whole = { receipts: [], isRefused: true, hasOthers: false };

type ReceiptOptions = {
  readonly head: () => Promise<bigint>;
  readonly headerAt: (number: bigint) => Promise<BlockHeader | undefined>;
  /** The first is asked, and another where its answer contradicts itself. */
  readonly nodes: readonly [Node, ...Node[]];
  /** Whether a block is so new that a node may still lack logs of it. */
  readonly isFresh: (number: bigint) => boolean;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
};

type Node = Pick<JsonRpcApiProvider, 'send'>;

/** Pauses before an answer that contradicts itself is asked for again. */
const againMs = [1_000, 3_000, 5_000];
// After so many blocks in a row whose logs never came, they are not asked for again.
const incompleteInRow = 3;

// Blocks are read in parallel already, and a block may have hundreds of receipts.
const singlesAtOnce = 16;
// Nodes get new releases, and other nodes are added.
const askAgainMs = 10 * 60_000;

// One block may be too much for a node that has the method.
const refusalsInRow = 3;

/** Returns whether receipts that did not arrive in one answer are worth a question each. */
function isReadSingly(error: unknown, isLastTry: boolean): boolean {
  if (isAtAll(error, isError, isTooLarge)) return true;
  return isLastTry && isAtSome(error, isError, isTooLarge, isLate);
}

/**
 * Reads the receipts of a block in one request. It reads missing receipts one by one. It reads all receipts so where no
 * node gives them in one answer or they are too many. The first receipt is asked for alone, because a node that rejects
 * everything must not get hundreds of questions. The reader returns undefined where the node does not have them yet.
 * Logs that the bloom filters promise are asked for again, at another node, for some seconds.
 */
export function createReceiptReader(options: ReceiptOptions) {
  const { nodes, isFresh, pause } = options;
  const [first] = nodes;
  const isWhole = createBloomCheck();
  const read = createReader(options);
  let incomplete = 0;

  return async (block: RawBlock, isLastTry: boolean): Promise<BlockReceipts | undefined> => {
    for (let turn = 0; ; turn += 1) {
      const found = await read(nodes[turn % nodes.length] ?? first, block, isLastTry);
      if (found === undefined || !isFresh(block.header.number)) return found?.known;
      // The block has the filter of receipts that it does not list too.
      const verdict = isWhole(found.hasOthers ? {} : block, found.known.receipts);
      if (verdict === true) incomplete = 0;
      if (verdict !== false) return found.known;
      const ms = incomplete >= incompleteInRow ? undefined : againMs[turn];
      if (ms === undefined) {
        incomplete += 1;
        return { ...found.known, isIncomplete: true };
      }
      await pause(ms);
    }
  };
}

type Found = {
  readonly known: BlockReceipts;
  /** Whether there were receipts of transactions that the block does not list. */
  readonly hasOthers: boolean;
};

function createReader({ head, headerAt, now }: Omit<ReceiptOptions, 'nodes' | 'isFresh' | 'pause'>) {
  let singlyUntil = Number.NEGATIVE_INFINITY;
  let refusals = 0;

  const ofBlock = async (
    node: Node,
    { header, transactions }: RawBlock,
    isLastTry: boolean,
  ): Promise<Whole> => {
    if (now() < singlyUntil) return refused;
    try {
      const answer: unknown = await node.send('eth_getBlockReceipts', [quantity(header.number)]);
      refusals = 0;
      // Some nodes add receipts of transactions that the block does not list. Such receipts may lack any field.
      const listed = new Set<unknown>(transactions.map(({ hash }) => hash));
      if (answer === null) return { receipts: null, isRefused: false, hasOthers: false };
      const all = listOf(answer, 'receipts').map((receipt) => fieldsOf(receipt, 'receipt'));
      const own = all.filter(({ transactionHash }) => listed.has(String(transactionHash).toLowerCase()));
      return { receipts: own.map(readReceipt), isRefused: false, hasOthers: own.length < all.length };
    } catch (error) {
      if (!isReadSingly(error, isLastTry)) throw error;
      if (isAtAll(error, isError)) refusals += 1;
      if (refusals >= refusalsInRow || isAtAll(error, isWithoutMethod)) singlyUntil = now() + askAgainMs;
      return refused;
    }
  };

  const single = async (node: Node, { hash }: RawTransaction): Promise<RawReceipt[]> => {
    const answer: unknown = await node.send('eth_getTransactionReceipt', [hash]);
    return answer === null ? [] : [readReceipt(answer)];
  };

  /**
   * Returns whether the receipts will not come any more: the node is beyond the block and still has it at its height.
   * The node may have yet to write the receipts of its newest block.
   */
  const isPast = async ({ header }: RawBlock): Promise<boolean> => {
    if ((await head()) <= header.number) return false;
    return (await headerAt(header.number))?.hash === header.hash;
  };

  return async (node: Node, block: RawBlock, isLastTry: boolean): Promise<Found | undefined> => {
    const { receipts: whole, isRefused, hasOthers } = await ofBlock(node, block, isLastTry);
    if (whole === null && !(await isPast(block))) return undefined;
    const receipts = [...(whole ?? [])];
    const known = new Set(receipts.map(({ hash }) => hash));
    const wanting = block.transactions.filter(({ hash }) => !known.has(hash));
    const missing: RawTransaction[] = [];
    let start = 0;
    while (start < wanting.length) {
      const group = wanting.slice(start, start + (isRefused && start === 0 ? 1 : singlesAtOnce));
      start += group.length;
      const found = (await Promise.all(group.map((each) => single(node, each)))).flat();
      // A later block may contain the same transaction again, and the receipt may be of that block.
      const own = new Map(found.map((receipt) => [receipt.hash, receipt]));
      for (const transaction of group) {
        const receipt = own.get(transaction.hash);
        const outside = isOutside(transaction);
        if (receipt !== undefined && (outside || receipt.blockHash === block.header.hash))
          receipts.push(receipt);
        else if (!outside) missing.push(transaction);
      }
    }
    if (missing.length === 0) return { known: { receipts }, hasOthers };
    if (!(await isPast(block))) return undefined;
    // A header that commits to receipts proves that they exist, so this node lacks them.
    if (block.commitsReceipts) throw new MalformedBlockError(`receipt of ${missing[0]?.hash}`, undefined);
    return { known: { receipts, withoutReceipt: new Set(missing.map(({ hash }) => hash)) }, hasOthers };
  };
}
