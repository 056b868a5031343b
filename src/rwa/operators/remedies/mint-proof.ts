import { type MintEvent, type MintPage, mintPages } from '../../../chain/minting/mint-history.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { Database, Tx } from '../../../contract/transaction.ts';
import { findOriginIfShown } from '../../minting/compare/contract-origin.ts';
import { isOwnAttempt } from '../../minting/compare/own-attempt-store.ts';
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

/** The number of the newest final block; -1n when there is none. */
export const finalBlockOf = async ({ network, node }: Pick<Proving, 'network' | 'node'>): Promise<bigint> =>
  node.finalized(await node.head(), network.finalityDepth);

/** The owner of a token, at the newest block or the newest final one; undefined when it has none at both. */
export async function findOwner(
  { network, node }: Pick<Proving, 'network' | 'node'>,
  { contract, tokenId }: Pick<RequestedMint, 'contract' | 'tokenId'>,
): Promise<string | undefined> {
  const head = await node.head();
  const finalized = await node.finalized(head, network.finalityDepth);
  for (const block of finalized < 0n ? [head.number] : [head.number, finalized]) {
    const owner = await node.ownerOf(contract, tokenId, block);
    if (owner !== null) return owner;
  }
  return undefined;
}

/**
 * Reads everything that a contract has minted, from its creation to the newest block.
 * @returns the newest mint of the token; undefined when there is none
 * @throws when the node does not give all of it: then nothing is proven
 */
export async function readMints(
  { db, network, node, onProgress, signal }: Proving,
  { contract, tokenId }: Pick<RequestedMint, 'contract' | 'tokenId'>,
  onPage: (page: MintPage) => Promise<unknown> = async () => {},
): Promise<MintEvent | undefined> {
  const { number: head } = await node.head();
  const search = { db, node, chainId: network.chainId, contract, newest: head };
  const from = (await findOriginIfShown(search)) ?? 0n;
  let found: MintEvent | undefined;
  for await (const page of mintPages(node, contract, { from, to: head }, signal)) {
    await onPage(page);
    found = page.mints.findLast((mint) => mint.tokenId === tokenId) ?? found;
    onProgress(Number(page.to - from + 1n), Number(head - from + 1n));
  }
  return found;
}

/** A mint of an NFT's token: `own` was made for this NFT, `taken` for somebody else; `open` is not final yet. */
export type Judged = { readonly kind: 'own' | 'taken' | 'open'; readonly time: Date };

/** Judges the mint of an NFT's token, as the lanes do. */
export async function judgeMint(
  { db, network, node }: Proving,
  { createdAt, recipient }: RequestedMint,
  event: MintEvent,
): Promise<Judged> {
  const block = await node.block(event.blockNumber);
  if (block === null)
    throw new Error(`The node does not have block ${event.blockNumber}, whose mint it told.`);
  const { time } = block;
  if (event.blockNumber > (await finalBlockOf({ network, node }))) return { kind: 'open', time };
  const isStored = await isOwnAttempt(db, event.hash);
  const isForAnother = recipient?.toLowerCase() !== event.recipient.toLowerCase();
  const isTaken = isBefore({ time, isStored }, createdAt) || (isForAnother && !isStored);
  return { kind: isTaken ? 'taken' : 'own', time };
}

/** A mint in words. */
export const mintInWords = ({ blockNumber, hash, recipient }: MintEvent): string =>
  `to ${recipient} in block ${blockNumber}, transaction ${hash}`;
