import { replacing } from '../../../../chain/minting/fees.ts';
import { costWithin, gasFor, transferGas } from '../../../../chain/minting/gas.ts';
import { readSigned, type Signed } from '../../../../chain/minting/signer.ts';
import { saveMintNotes } from '../../../minting/mint-note-store.ts';
import { broadcast } from '../../context/broadcast.ts';
import type { NoEvidence } from '../../context/inquiry.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import { limitsOf, marketAt } from '../../context/market.ts';
import { quoteFor } from '../../context/node-limits.ts';
import { attemptFacts } from '../../context/step-facts.ts';
import { insertAttempt, readRawAttempt } from '../../stores/attempt-store.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { listOpenNfts } from '../../stores/transaction-nft-store.ts';
import { type OpenTransaction, setGasLimit } from '../../stores/transaction-store.ts';
import type { ChainView } from '../evidence/chain-view.ts';
import { planWithin } from './plan-within.ts';
import { rebroadcastAttempt } from './rebroadcast-attempt.ts';
import { findSameAttempt, type Plan } from './same-attempt.ts';

// Each is a signature and a row, and is asked about with every look. Halves and quarters come to an end long before.
const mostAttempts = 40;

/**
 * Signs a transaction anew that every node refuses for good: at the same nonce, within what nodes take. What was signed
 * like that before is broadcast again as it is. NFTs that the new attempt leaves out stay in the transaction until its
 * nonce is final: an earlier attempt with them may have reached a node after all.
 * @returns false when nothing fits, at present, or there are too many attempts already; then nothing has changed
 */
export async function resign(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<boolean> {
  const { db, memory } = context;
  const [newest] = transaction.attempts;
  const refused = memory.refused.get(transaction.id);
  if (refused === undefined || newest.number >= mostAttempts) return false;
  const { contract, gasLimit, mints } = readSigned(await readRawAttempt(db, newest.hash));
  const last = { contract, gasLimit, mints, fees: newest.fees };
  const plan = await planWithin(context, view.head, refused.refusal, last);
  if (plan === undefined) return false;
  const same = await findSameAttempt(db, transaction, plan);
  if (same !== undefined) {
    await rebroadcastAttempt(context, transaction, same);
    return true;
  }

  const detail = `Left out of a smaller transaction, until its nonce is final. Nodes said: ${refused.words}`;
  await sendPlan(context, view, transaction, plan, { reason: 'broadcast_refused', detail });
  return true;
}

/** Signs, stores and broadcasts a new attempt. @param note for NFTs that it leaves out */
async function sendPlan(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  plan: Plan,
  note: NoEvidence,
): Promise<void> {
  const { step } = context;
  const signed = await signPlan(context, transaction, plan);
  const number = transaction.attempts[0].number + 1;
  const leftOut = await storePlan(context, view, transaction, { ...plan, number, signed }, note);
  const facts = { ...attemptFacts(transaction, { number, hash: signed.hash, fees: plan.fees }), leftOut };
  await step('resign_stored', facts);
  await broadcast(context, transaction.id, signed, plan.fees);
  await step('resign_sent', facts);
}

/**
 * Signs a transaction anew without the NFTs that an operator has asked to mint by another one: at the same nonce, with
 * fees that replace the last attempt. Where none is left it only uses the nonce.
 * @returns false when there is nothing to leave out, or the fee cap does not allow it; then nothing has changed
 */
export async function leaveOut(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<boolean> {
  const { db, settings } = context;
  const [newest] = transaction.attempts;
  if (!transaction.hasAskedOut) return false;
  const open = await listOpenNfts(db, transaction.id);
  const askedOut = new Set(open.filter(({ isAskedOut }) => isAskedOut).map(({ tokenId }) => tokenId));
  const { gasLimit, mints: last } = readSigned(await readRawAttempt(db, newest.hash));
  const mints = last.filter(({ tokenId }) => !askedOut.has(tokenId));
  if (mints.length === last.length) return false;
  const market = await marketAt(context, view.head);
  const fees = replacing(newest.fees, quoteFor(market, settings.feeCap, limitsOf(context)), settings.feeCap);
  if (fees === undefined) return false;
  const gas = mints.length === 0 ? transferGas : gasFor(costWithin(gasLimit, last.length), mints.length);
  const plan = { mints, gasLimit: gas, fees };
  await sendPlan(context, view, transaction, plan, {
    reason: 'left_out',
    detail: 'An operator took it out of its transaction; it is minted by another when that nonce is final.',
  });
  return true;
}

function signPlan(
  { lease: { chainId }, signer }: LaneContext,
  { contract, nonce }: OpenTransaction,
  { fees, gasLimit, mints }: Plan,
): Promise<Signed> {
  return mints.length === 0
    ? signer.signFill({ chainId, nonce, gasLimit, fees })
    : signer.sign({ chainId, nonce, contract, mints, gasLimit, fees });
}

/** @returns how many NFTs of the transaction the attempt leaves out */
function storePlan(
  { db, lease }: LaneContext,
  view: ChainView,
  { id: transactionId }: OpenTransaction,
  { fees, gasLimit, mints, number, signed }: Plan & { readonly number: number; readonly signed: Signed },
  note: NoEvidence,
): Promise<number> {
  const sentAtBlock = view.head.number;
  return inFencedTransaction(db, lease, async (tx) => {
    await insertAttempt(tx, lease, { transactionId, number, signed, fees, sentAtBlock });
    await setGasLimit(tx, transactionId, gasLimit);
    const kept = new Set(mints.map(({ tokenId }) => tokenId));
    const leftOut = (await listOpenNfts(tx, transactionId)).filter(({ tokenId }) => !kept.has(tokenId));
    await saveMintNotes(
      tx,
      leftOut.map(({ nftId }) => ({ nftId, ...note })),
    );
    return leftOut.length;
  });
}
