import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import { type BlockRange, scanLogs } from '../../../chain/minting/log-scan.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { Database, Tx } from '../../../contract/transaction.ts';
import { isOwnAttempt } from '../../minting/compare/token-row-store.ts';
import { isBefore } from '../../minting/compare/token-verdict.ts';
import type { RequestedMint } from './mint-remedy-store.ts';

/** What a remedy proves something with; the node is a pinned one. */
export type Proving = {
  readonly db: Database;
  readonly network: Network;
  readonly node: MintNode;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  readonly onChange: OnChange;
};

/** Called in the transaction of a change, with what it is; what it throws undoes the change. */
export type OnChange = (tx: Tx, change: Readonly<Record<string, unknown>>) => Promise<void>;

/** The owner of a token, at the newest block or the newest final one; undefined when it has none at both. */
export async function findOwner(
  node: MintNode,
  { contract, tokenId }: Pick<RequestedMint, 'contract' | 'tokenId'>,
): Promise<string | undefined> {
  const head = await node.head();
  for (const block of node.finalized < 0n ? [head.number] : [head.number, node.finalized]) {
    const owner = await node.ownerOf(contract, tokenId, block);
    if (owner !== null) return owner;
  }
  return undefined;
}

/** The question for mints of a contract, for a scan that ends between two parts when the signal aborts. */
export const mintsUnlessAborted =
  (node: Pick<MintNode, 'mintsIn'>, contract: string, signal: AbortSignal, tokenIds?: readonly string[]) =>
  (part: BlockRange): Promise<readonly MintEvent[]> => {
    signal.throwIfAborted();
    return node.mintsIn(contract, part, tokenIds);
  };

/**
 * Finds the newest mint of a token: from the newest block downwards, to the first of all when there is none.
 * @throws when the node does not give all of it: then nothing is proven
 */
export async function findMint(
  { node, onProgress, signal }: Proving,
  { contract, tokenId }: Pick<RequestedMint, 'contract' | 'tokenId'>,
): Promise<MintEvent | undefined> {
  const { number: head } = await node.head();
  const ask = mintsUnlessAborted(node, contract, signal, [tokenId]);
  for await (const { from, logs } of scanLogs(ask, { from: 0n, to: head }, undefined, 'to')) {
    const newest = logs.at(-1);
    if (newest !== undefined) return newest;
    onProgress(Number(head - from + 1n), Number(head + 1n));
  }
  return undefined;
}

/** A mint of an NFT's token: `own` was made for this NFT, `taken` for somebody else; `open` is not final yet. */
export type Judged = { readonly kind: 'own' | 'taken' | 'open'; readonly time: Date };

/** Judges the mint of an NFT's token, as the lanes do. */
export async function judgeMint(
  { db, node }: Proving,
  { createdAt, recipient }: RequestedMint,
  event: MintEvent,
): Promise<Judged> {
  const block = await node.block(event.blockNumber);
  if (block === null)
    throw new Error(`The node does not have block ${event.blockNumber}, whose mint it told.`);
  const { time } = block;
  if (event.blockNumber > node.finalized) return { kind: 'open', time };
  const isStored = await isOwnAttempt(db, event.hash);
  const isForAnother = recipient?.toLowerCase() !== event.recipient.toLowerCase();
  const isTaken = isBefore({ time, isStored }, createdAt) || (isForAnother && !isStored);
  return { kind: isTaken ? 'taken' : 'own', time };
}

/** A mint in words. */
export const mintInWords = ({ blockNumber, hash, recipient }: MintEvent): string =>
  `to ${recipient} in block ${blockNumber}, transaction ${hash}`;
