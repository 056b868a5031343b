import type { Tx } from '../../../../contract/transaction.ts';
import { deleteMintNotes, saveMintNotes } from '../../../minting/mint-note-store.ts';
import type { MintReason } from '../../../minting/mint-reason.ts';
import { wordsOf } from '../../context/inquiry.ts';
import { type LaneContext, transactionFacts } from '../../context/lane-context.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { listOpenNfts, type TransactionNft } from '../../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { WaitingNft } from './proof.ts';

/** Notes that are about evidence, and go when it is there. */
const reasons: readonly MintReason[] = [
  'contract_nonsense',
  'evidence_unavailable',
  'history_searched',
  'history_unavailable',
  'token_exists',
];

const isChanged = ({ nft, note }: WaitingNft): boolean =>
  note !== undefined && (note.reason !== nft.note?.reason || note.detail !== nft.note.detail);

/** Whether any note differs from what is stored. */
export const hasNews = (waiting: readonly WaitingNft[]): boolean => waiting.some(isChanged);

/** Stores why NFTs wait, where that has changed, and deletes the notes of those that no longer do. */
export async function saveWaiting(
  tx: Tx,
  nfts: readonly TransactionNft[],
  waiting: readonly WaitingNft[],
): Promise<void> {
  const news = waiting.filter(isChanged);
  await saveMintNotes(
    tx,
    news.flatMap(({ nft, note }) => (note === undefined ? [] : [{ nftId: nft.nftId, ...note }])),
  );
  const noted = nfts.filter(({ note }) => note !== null);
  await deleteMintNotes(tx, endedAmong(noted, waiting));
}

/** The ids of those of the NFTs that no longer wait. */
function endedAmong(nfts: readonly TransactionNft[], waiting: readonly WaitingNft[]): string[] {
  const still = new Set(waiting.map(({ nft }) => nft.nftId));
  return nfts.map(({ nftId }) => nftId).filter((nftId) => !still.has(nftId));
}

/** Forgets when NFTs would have been asked about again. */
export function forgetRetries({ memory }: LaneContext, nftIds: readonly string[]): void {
  for (const nftId of nftIds) memory.evidence.retries.delete(nftId);
}

/** Forgets when those of the NFTs that no longer wait would have been asked about again. */
export function forgetEndedRetries(
  context: LaneContext,
  nfts: readonly TransactionNft[],
  waiting: readonly WaitingNft[],
): void {
  forgetRetries(context, endedAmong(nfts, waiting));
}

/** Notes for every open NFT of a transaction that a question about the transaction has no answer of this node. */
export async function noteUnanswered(
  { db, lease, log, node }: LaneContext,
  transaction: OpenTransaction,
  err: unknown,
): Promise<void> {
  node.preferOthers();
  const note = {
    reason: 'evidence_unavailable',
    detail: `The node does not answer: ${wordsOf(err)}`,
  } as const;
  const nfts = await listOpenNfts(db, transaction.id);
  const waiting = nfts.filter(({ isMinted }) => !isMinted).map((nft) => ({ nft, note }));
  if (!hasNews(waiting)) return;
  await inFencedTransaction(db, lease, (tx) => saveWaiting(tx, [], waiting));
  log.warn({ err, ...transactionFacts(transaction) }, 'mint transaction cannot be watched');
}

/** Deletes the notes about evidence of a transaction whose questions are answered again. */
export async function clearUnanswered({ db, lease }: LaneContext, transactionId: string): Promise<void> {
  const nfts = await listOpenNfts(db, transactionId);
  const noted = nfts.filter(({ note }) => note !== null && reasons.includes(note.reason));
  if (noted.length > 0) await inFencedTransaction(db, lease, (tx) => saveWaiting(tx, noted, []));
}
