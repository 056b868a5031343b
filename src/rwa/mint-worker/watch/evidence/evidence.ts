import type { MintEvent } from '../../../../chain/minting/evidence-node.ts';
import { type NoEvidence, wordsOf } from '../../context/inquiry.ts';
import type { MintSearch } from '../../context/lane-memory.ts';
import { isResting, rest } from '../../context/rests.ts';
import type { TransactionNft } from '../../stores/transaction-nft-store.ts';
import type { Inclusion } from '../../stores/transaction-store.ts';
import type { Look } from './look.ts';
import { searchFor, searchMints } from './mint-search.ts';

/**
 * What the chain shows about the mint of one NFT:
 * - `absent`: no event that minted it;
 * - `unknown`: it is unclear, or not deep enough yet;
 * - `waits`: the evidence is not to be had, or is no evidence for this NFT. The note says why; it is undefined when
 *   nothing was asked, so that what is known stays.
 */
export type Evidence =
  | { readonly kind: 'minted'; readonly in: Inclusion }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly detail: string }
  | { readonly kind: 'waits'; readonly note: NoEvidence | undefined };

type Subject = { readonly id: string; readonly contract: string };

/**
 * Searches any transaction for the mints of the NFTs of one transaction, by the events of their contract. When nodes do not
 * show that, only those NFTs wait.
 * @param minDepth depth that the block of an event must have, 1 for the newest block
 * @returns evidence by NFT id
 * @throws when the node answers nothing at all
 */
export async function findEvidence(
  look: Look,
  subject: Subject,
  nfts: readonly TransactionNft[],
  minDepth: bigint,
): Promise<Map<string, Evidence>> {
  const { context } = look;
  const due = nfts.filter(({ nftId }) => !isResting(context, 'proof', nftId));
  const all = new Map<string, Evidence>(nfts.map(({ nftId }) => [nftId, { kind: 'waits', note: undefined }]));
  if (due.length === 0) return all;
  const search = searchFor(look, subject, nfts);
  const end = await endOfSearch(look, subject, nfts, search);
  for (const nft of due) {
    const found = end.mints.get(nft.tokenId);
    const evidence = found === undefined ? end.otherwise : await weigh(look, nft, found, minDepth);
    if (evidence.kind === 'waits') restBeforeRetry(look, nft.nftId, evidence.note);
    all.set(nft.nftId, evidence);
  }
  return all;
}

/** Lets an NFT rest before the next question. An NFT that waits for the pace of a search goes on with the next poll. */
export function restBeforeRetry({ context }: Look, nftId: string, note: NoEvidence | undefined): void {
  if (note === undefined || note.reason === 'history_searched') return;
  if (note.reason !== 'contract_nonsense') context.node.preferOthers();
  rest(context, 'proof', nftId);
}

type EndOfSearch = {
  readonly mints: ReadonlyMap<string, MintEvent>;
  /** What the search says of the tokens that it has not found. */
  readonly otherwise: Evidence;
};

async function endOfSearch(
  look: Look,
  subject: Subject,
  nfts: readonly TransactionNft[],
  search: MintSearch,
): Promise<EndOfSearch> {
  try {
    const { mints, missing } = await searchMints(look, subject, nfts, search);
    if (missing === undefined) return { mints, otherwise: { kind: 'absent' } };
    const detail = `The node does not give the logs of blocks ${missing.from} to ${missing.to}: ${wordsOf(missing.error)}`;
    return { mints, otherwise: { kind: 'waits', note: { reason: 'history_unavailable', detail } } };
  } catch (error) {
    const note = await look.inquiry.reasonOf(error);
    return { mints: search.found, otherwise: { kind: 'waits', note } };
  }
}

/** Judges an event that minted the token of an NFT, whoever sent it: only the recipient counts. */
async function weigh(look: Look, nft: TransactionNft, found: MintEvent, minDepth: bigint): Promise<Evidence> {
  const { inquiry } = look;
  try {
    const block = await inquiry.ask(() => look.block(found.blockNumber));
    if (block?.hash !== found.blockHash) return unknown(found, 'in a block that is not in its chain');
    if (look.depthOf(block.number) < minDepth)
      return unknown(found, 'in a block that is not deep enough yet');
    if (found.recipient.toLowerCase() !== nft.recipient.toLowerCase()) {
      const reason = `The token was minted to another recipient, ${found.recipient}, in transaction ${found.hash}.`;
      return { kind: 'failed', reason };
    }
    const { number: blockNumber, hash: blockHash, time } = block;
    return { kind: 'minted', in: { hash: found.hash, blockNumber, blockHash, time } };
  } catch (error) {
    return { kind: 'waits', note: await inquiry.reasonOf(error) };
  }
}

const unknown = ({ hash }: MintEvent, where: string): Evidence => ({
  kind: 'unknown',
  detail: `The node shows the mint in transaction ${hash}, ${where}.`,
});
