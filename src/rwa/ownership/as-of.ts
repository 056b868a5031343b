import { ProblemError, problem } from '../../base/errors.ts';
import type { InputError } from '../../base/problem.ts';
import { firstBlockSince } from '../../chain/minting/first-block-since.ts';
import type { Block, MintNode } from '../../chain/minting/mint-node.ts';
import type { RwaLedger } from './holder-store.ts';
import type { LedgerBlock } from './ledger-group.ts';

/** What a caller asks for: a block, or the newest block at a moment. */
export type AsOf = { readonly block: bigint } | { readonly time: Date };

/** What the caller sent, and where. */
type Asked = { readonly text: string; readonly place: Omit<InputError, 'message'> };

/**
 * Finds the block that a caller asks for, within what a ledger has read. Only for a block other than the newest a node is asked.
 * @throws problem `as_of_not_read`; `service_unavailable` when the node does not answer, or has another chain than the ledger
 */
export async function findAsOf(
  node: Pick<MintNode, 'block'>,
  ledger: RwaLedger,
  asOf: AsOf | undefined,
  { text, place }: Asked,
): Promise<LedgerBlock> {
  if (asOf === undefined) return ledger;
  const notRead = () => {
    const values = { asOf: text };
    const { message } = problem('as_of_not_read', values);
    return problem('as_of_not_read', values, { errors: [{ ...place, message }] });
  };
  const isAfter = 'block' in asOf ? asOf.block > ledger.number : asOf.time > ledger.time;
  if (isAfter || ('block' in asOf && asOf.block < ledger.firstBlock)) throw notRead();
  try {
    const number = 'block' in asOf ? asOf.block : await lastBlockUntil(node, asOf.time, ledger.number);
    if (number < ledger.firstBlock) throw notRead();
    if (number === ledger.number) return ledger;
    const block = await blockOf(node, number);
    // A block that may be replaced must be of the chain that the ledger has read.
    if (number > (ledger.final ?? -1n)) await assertSame(node, ledger);
    return block;
  } catch (cause) {
    if (cause instanceof ProblemError) throw cause;
    throw problem('service_unavailable', {}, { cause });
  }
}

const lastBlockUntil = async (node: Pick<MintNode, 'block'>, time: Date, newest: bigint): Promise<bigint> =>
  (await firstBlockSince(node, new Date(time.getTime() + 1), newest)) - 1n;

async function blockOf(node: Pick<MintNode, 'block'>, number: bigint): Promise<Block> {
  const block = await node.block(number);
  if (block === null) throw new Error(`The node does not have block ${number}, which the ledger has read.`);
  return block;
}

async function assertSame(node: Pick<MintNode, 'block'>, { number, hash }: LedgerBlock): Promise<void> {
  if ((await blockOf(node, number)).hash !== hash)
    throw new Error(`The node has another block ${number} than the ledger has read.`);
}
