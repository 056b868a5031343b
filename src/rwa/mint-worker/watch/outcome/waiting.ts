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
];

const isChanged = ({ nft, note }: WaitingNft): boolean =>
  note !== undefined && (note.reason !== nft.note?.reason || note.detail !== nft.note.detail);

/** Whether any note differs from what is stored. */
export const hasChangedNotes = (waiting: readonly WaitingNft[]): boolean => waiting.some(isChanged);

/** Stores why NFTs wait, and deletes the notes of those that no longer do. */
export async function saveWaiting(
  tx: Tx,
  nfts: readonly TransactionNft[],
  waiting: readonly WaitingNft[],
): Promise<void> {
  await saveMintNotes(
    tx,
    waiting.flatMap(({ nft, note }) => (note === undefined ? [] : [{ nftId: nft.nftId, ...note }])),
  );
  const still = new Set(waiting.map(({ nft }) => nft.nftId));
  const ended = nfts.filter(({ nftId, note }) => note !== null && !still.has(nftId));
  await deleteMintNotes(
    tx,
    ended.map(({ nftId }) => nftId),
  );
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
  if (!hasChangedNotes(waiting)) return;
  await inFencedTransaction(db, lease, (tx) => saveWaiting(tx, [], waiting));
  log.warn({ err, ...transactionFacts(transaction) }, 'mint transaction cannot be watched');
}

/** Deletes the notes about evidence of a transaction whose questions are answered again. */
export async function clearUnanswered({ db, lease }: LaneContext, transactionId: string): Promise<void> {
  const nfts = await listOpenNfts(db, transactionId);
  const noted = nfts.filter(({ note }) => note !== null && reasons.includes(note.reason));
  if (noted.length > 0) await inFencedTransaction(db, lease, (tx) => saveWaiting(tx, noted, []));
}
