import { blockOfMint } from '../../../chain/minting/block-of-mint.ts';
import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import { firstBlockSince } from '../../../chain/minting/first-block-since.ts';
import { type BlockRange, scanLogs } from '../../../chain/minting/log-scan.ts';
import { decodeMintBatch } from '../../../chain/minting/mint-contract.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { Database, Tx } from '../../../contract/transaction.ts';
import { listSigners } from '../../minting/compare/compared-contract-store.ts';
import { clocksApartMs } from '../../minting/compare/first-block.ts';
import { isOwnAttempt } from '../../minting/compare/token-row-store.ts';
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
 * Finds the newest mint of a token: from the newest block down to the first in which the NFT can be minted, as lanes
 * do. If the token has an owner all the same, it goes on to the first block of all: release 0.1.0 could give the id of
 * a lost token again.
 * @throws when the node does not give all blocks: then nothing is proven
 */
export async function findMint(proving: Proving, mint: RequestedMint): Promise<MintEvent | undefined> {
  const { node } = proving;
  const range = await blocksOf(proving, mint);
  const found = await searchDown(proving, mint, range);
  if (found !== undefined || (await findOwner(node, mint)) === undefined) return found;
  return searchDown(proving, mint, { from: 0n, to: range.from - 1n });
}

/** The blocks in which the NFT can be minted, up to the newest. */
async function blocksOf({ node }: Proving, mint: RequestedMint): Promise<BlockRange> {
  const { number: to } = await node.head();
  if (mint.firstBlock > 0n) return { from: mint.firstBlock, to };
  const since = new Date(mint.createdAt.getTime() - clocksApartMs);
  return { from: await firstBlockSince(node, since, to), to };
}

/**
 * Finds the owner of the token of a mint, or the account that has got it. An address that has no contract of NFTs
 * answers nothing about owners: there only an event shows a mint.
 * @returns undefined when nobody has
 * @throws as {@link findMint}
 */
export async function findHolder(proving: Proving, mint: RequestedMint): Promise<string | undefined> {
  const { node } = proving;
  const { number } = await node.head();
  if ((await node.lookAt(mint.contract, number)) === 'contract') return findOwner(node, mint);
  return (await searchDown(proving, mint, await blocksOf(proving, mint)))?.recipient;
}

async function searchDown(
  { node, onProgress, signal }: Proving,
  { contract, tokenId }: RequestedMint,
  range: BlockRange,
): Promise<MintEvent | undefined> {
  const ask = mintsUnlessAborted(node, contract, signal, [tokenId]);
  for await (const { from, logs } of scanLogs(ask, range, undefined, 'to')) {
    const newest = logs.at(-1);
    if (newest !== undefined) return newest;
    onProgress(Number(range.to - from + 1n), Number(range.to - range.from + 1n));
  }
  return undefined;
}

/** A mint of an NFT's token: `own` went to its recipient, `taken` to somebody else; `open` is not final yet. */
export type Judged = { readonly kind: 'own' | 'taken' | 'open'; readonly time: Date };

/** Judges the mint of an NFT's token, as the lanes do: by its recipient, for any sender. */
export async function judgeMint(
  { node }: Pick<Proving, 'node'>,
  { recipient }: RequestedMint,
  event: MintEvent,
): Promise<Judged> {
  const { time } = await blockOfMint(node, event);
  if (event.blockNumber > node.finalized) return { kind: 'open', time };
  return { kind: recipient?.toLowerCase() === event.recipient.toLowerCase() ? 'own' : 'taken', time };
}

/**
 * Why a person must decide about a token that somebody else has: a signer of ours signed its mint to them. A restored
 * database may have forgotten that the NFT was theirs.
 * @returns undefined when the NFT may have another token: nobody of ours sent the mint, or it was to go to its recipient
 */
export async function whyAPersonDecides(
  { db, network: { chainId }, node }: Pick<Proving, 'db' | 'network' | 'node'>,
  { contract, nftId, recipient, tokenId }: RequestedMint,
  event: MintEvent,
): Promise<string | undefined> {
  const sent = await node.transaction(event.hash);
  if (sent === null) throw new Error(`The node does not have transaction ${event.hash}, whose mint it told.`);
  const isOurs = (await listSigners(db, chainId)).includes(sent.from) || (await isOwnAttempt(db, event.hash));
  const asked = isOurs ? recipientIn(sent.data, tokenId) : undefined;
  const isAsAsked = asked !== undefined && asked.toLowerCase() === recipient?.toLowerCase();
  if (!isOurs || isAsAsked) return undefined;
  return (
    `Token ${tokenId} of ${contract} was minted ${mintInWords(event)}, and our own signer ${sent.from} sent that. ` +
    `So the NFT was ${event.recipient}'s, and this database has forgotten it or another installation has the signer. ` +
    `Find out with the company whose the NFT is. If it is ${event.recipient}'s, leave NFT ${nftId} failed. ` +
    `If ${recipient} must have one too, let the company mint another NFT of the RWA.`
  );
}

/** To whom a call of our contract was to mint a token; undefined when it is no such call. */
function recipientIn(data: string, tokenId: string): string | undefined {
  try {
    return decodeMintBatch(data).find((mint) => mint.tokenId === tokenId)?.recipient;
  } catch {
    return undefined;
  }
}

/** A mint in words. */
export const mintInWords = ({ blockNumber, hash, recipient }: MintEvent): string =>
  `to ${recipient} in block ${blockNumber}, transaction ${hash}`;
