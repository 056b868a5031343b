import type { JsonRpcApiProvider } from 'ethers';
import { quantity } from '../../../chain/rpc/transport/quantity.ts';
import type { BlockSource } from '../decode/decode-block.ts';
import type { BlockHeader } from '../decode/domain.ts';
import { fieldsOf, listOf, MalformedBlockError } from '../decode/hex.ts';
import { type RawBlock, type RawReceipt, type RawTransaction, readReceipt } from '../decode/raw-block.ts';
import { isOutside } from '../decode/traces.ts';
import { isAtAll, isAtSome, isError, isLate, isTooLarge, isWithoutMethod } from './node-error.ts';

type BlockReceipts = Pick<BlockSource, 'receipts' | 'withoutReceipt'>;

type Whole = {
  /** Null where the node does not have them yet. */
  readonly receipts: readonly RawReceipt[] | null;
  /** Whether no node gives all of them in one answer. */
  readonly isRefused: boolean;
};

type ReceiptOptions = {
  readonly head: () => Promise<bigint>;
  readonly headerAt: (number: bigint) => Promise<BlockHeader | undefined>;
  readonly node: Pick<JsonRpcApiProvider, 'send'>;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
};

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
 * Reads the receipts of a block in one request. It reads missing receipts one by one, and all of them where no node
 * gives them in one answer or they are too many. The first receipt is asked for alone, because a node that rejects
 * everything must not get hundreds of questions. The reader returns undefined where the node does not have them yet.
 */
export function createReceiptReader({ node, head, headerAt, now }: ReceiptOptions) {
  let singlyUntil = Number.NEGATIVE_INFINITY;
  let refusals = 0;

  const ofBlock = async ({ header, transactions }: RawBlock, isLastTry: boolean): Promise<Whole> => {
    if (now() < singlyUntil) return { receipts: [], isRefused: true };
    try {
      const answer: unknown = await node.send('eth_getBlockReceipts', [quantity(header.number)]);
      refusals = 0;
      // Some nodes add receipts of transactions that the block does not list. Such receipts may lack any field.
      const listed = new Set<unknown>(transactions.map(({ hash }) => hash));
      const receipts =
        answer === null
          ? null
          : listOf(answer, 'receipts')
              .map((receipt) => fieldsOf(receipt, 'receipt'))
              .filter(({ transactionHash }) => listed.has(String(transactionHash).toLowerCase()))
              .map(readReceipt);
      return { receipts, isRefused: false };
    } catch (error) {
      if (!isReadSingly(error, isLastTry)) throw error;
      if (isAtAll(error, isError)) refusals += 1;
      if (refusals >= refusalsInRow || isAtAll(error, isWithoutMethod)) singlyUntil = now() + askAgainMs;
      return { receipts: [], isRefused: true };
    }
  };

  const single = async ({ hash }: RawTransaction): Promise<RawReceipt[]> => {
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

  return async (block: RawBlock, isLastTry: boolean): Promise<BlockReceipts | undefined> => {
    const { receipts: whole, isRefused } = await ofBlock(block, isLastTry);
    if (whole === null && !(await isPast(block))) return undefined;
    const receipts = [...(whole ?? [])];
    const known = new Set(receipts.map(({ hash }) => hash));
    const wanting = block.transactions.filter(({ hash }) => !known.has(hash));
    const missing: RawTransaction[] = [];
    let start = 0;
    while (start < wanting.length) {
      const group = wanting.slice(start, start + (isRefused && start === 0 ? 1 : singlesAtOnce));
      start += group.length;
      const found = (await Promise.all(group.map(single))).flat();
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
    if (missing.length === 0) return { receipts };
    if (!(await isPast(block))) return undefined;
    // A header that commits to receipts proves that they exist, so this node lacks them.
    if (block.commitsReceipts) throw new MalformedBlockError(`receipt of ${missing[0]?.hash}`, undefined);
    return { receipts, withoutReceipt: new Set(missing.map(({ hash }) => hash)) };
  };
}
