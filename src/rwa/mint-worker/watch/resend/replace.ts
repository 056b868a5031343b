import type { Fees } from '../../../../chain/minting/fees.ts';
import type { Mint } from '../../../../chain/minting/mint-contract.ts';
import { replacementOf } from '../../../../chain/minting/signer.ts';
import { saveMintNotes } from '../../../minting/mint-note-store.ts';
import { broadcast } from '../../context/broadcast.ts';
import type { NoEvidence } from '../../context/inquiry.ts';
import { attemptFacts } from '../../context/lane-context.ts';
import { insertAttempt, readRawAttempt } from '../../stores/attempt-store.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { listOpenNfts, type TransactionNft } from '../../stores/transaction-nft-store.ts';
import { type OpenTransaction, setGasLimit } from '../../stores/transaction-store.ts';
import type { Look } from '../evidence/look.ts';

/** What an attempt of a nonce says. */
export type Plan = {
  /** NFTs of the last attempt, or fewer; none for one that just uses its nonce. */
  readonly mints: readonly Mint[];
  readonly gasLimit: bigint;
  readonly fees: Fees;
  /** Why NFTs of the transaction are left out; undefined when none are. */
  readonly note?: NoEvidence;
};

/**
 * Signs, stores and then broadcasts an attempt that replaces the last one of its nonce. NFTs that it leaves out stay in
 * the transaction until its nonce is final: an earlier attempt with them may have reached a node after all.
 * @throws Error when NFTs of the transaction end meanwhile
 */
export async function replace(
  { context, head }: Look,
  transaction: OpenTransaction,
  plan: Plan,
): Promise<void> {
  const { db, lease, signer, step } = context;
  const { id: transactionId, attempts } = transaction;
  const { fees, gasLimit, mints, note } = plan;
  // After a rollback of the chain, an NFT that ended in this transaction may be in another one.
  const tokenIds = mints.map(({ tokenId }) => tokenId).filter(isIn(await listOpenNfts(db, transactionId)));
  const raw = await readRawAttempt(db, attempts[0].hash);
  const signed = await signer.sign(replacementOf(raw, signer.address, { tokenIds, gasLimit, fees }));
  const number = attempts[0].number + 1;
  const sentAtBlock = head.number;
  const leftOut = await inFencedTransaction(db, lease, async (tx) => {
    const open = await listOpenNfts(tx, transactionId);
    const kept = new Set(tokenIds);
    const left = open.filter(({ tokenId }) => !kept.has(tokenId));
    if (open.length - left.length < kept.size)
      throw new Error(
        `Mint transaction ${transactionId} is not replaced: it has ended for some of its NFTs.`,
      );
    await insertAttempt(tx, lease, { transactionId, number, signed, fees, sentAtBlock });
    await setGasLimit(tx, transactionId, gasLimit);
    if (note === undefined) return 0;
    await saveMintNotes(
      tx,
      left.map(({ nftId }) => ({ nftId, ...note })),
    );
    return left.length;
  });
  const facts = { ...attemptFacts(transaction, { number, hash: signed.hash, fees }), leftOut };
  await step('raise_stored', facts);
  await broadcast(context, transactionId, signed);
  await step('raise_sent', facts);
}

function isIn(nfts: readonly TransactionNft[]): (tokenId: string) => boolean {
  const tokenIds = new Set(nfts.map(({ tokenId }) => tokenId));
  return (tokenId) => tokenIds.has(tokenId);
}
