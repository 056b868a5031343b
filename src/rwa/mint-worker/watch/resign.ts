import { type Fees, type Market, quoteWithin, replacing } from '../../../chain/minting/fees.ts';
import { costWithin, gasFor, mostGas, tokensWithin, transferGas } from '../../../chain/minting/gas.ts';
import type { Mint } from '../../../chain/minting/mint-contract.ts';
import { readSigned, type Signed } from '../../../chain/minting/signer.ts';
import { saveMintNotes } from '../../minting/mint-note-store.ts';
import { broadcast } from '../broadcast.ts';
import type { LaneContext } from '../lane-context.ts';
import type { RefusedBroadcast } from '../lane-memory.ts';
import { limitsOf, marketAt } from '../market.ts';
import { type NodeLimits, quoteFor } from '../node-limits.ts';
import { attemptFacts } from '../step-facts.ts';
import { insertAttempt, readRawAttempt } from '../stores/attempt-store.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { listOpenNfts } from '../stores/transaction-nft-store.ts';
import { type OpenTransaction, setGasLimit } from '../stores/transaction-store.ts';
import type { ChainView } from './chain-view.ts';
import type { NoEvidence } from './inquiry.ts';

/**
 * Signs a transaction anew that every node refuses for good: at the same nonce, within what nodes take. The new attempt
 * costs less, or mints fewer NFTs. Those that it leaves out stay in the transaction until its nonce is final: an
 * earlier attempt with them may have reached a node after all.
 * @returns false when nothing fits, at present; then nothing has changed
 */
export async function resign(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<boolean> {
  const { db, memory } = context;
  const [newest] = transaction.attempts;
  const refused = memory.refused.get(transaction.id);
  if (refused === undefined) return false;
  const { contract, gasLimit, mints } = readSigned(await readRawAttempt(db, newest.hash));
  const plan = await planWithin(context, view, refused, { contract, gasLimit, mints, fees: newest.fees });
  if (plan === undefined) return false;

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

type Plan = { readonly mints: readonly Mint[]; readonly gasLimit: bigint; readonly fees: Fees };

/** @returns undefined when nothing fits that differs from what was refused */
async function planWithin(
  context: LaneContext,
  view: ChainView,
  { refusal }: RefusedBroadcast,
  last: Plan & { readonly contract: string },
): Promise<Plan | undefined> {
  const { settings } = context;
  const limits = limitsOf(context);
  const market = await marketAt(context, view.head);
  const fees = quoteFor(market, settings.feeCap, limits);
  if (fees === undefined) return undefined;
  const gasLimit = refusal.kind === 'gas_too_low' ? await enoughGas(context, last) : last.gasLimit;
  const most = mostGas({ blockGasLimit: view.head.gasLimit, blockShare: 100 });
  if (gasLimit === undefined || (gasLimit > last.gasLimit && gasLimit > most)) return undefined;
  const plan = fitWithin({ ...last, gasLimit }, market, fees, limits);
  return plan !== undefined && differs(plan, last) ? plan : undefined;
}

/** A gas limit above the one that was too low; undefined when the contract refuses the batch. */
async function enoughGas(
  { node, signer }: LaneContext,
  { contract, gasLimit, mints }: Plan & { readonly contract: string },
): Promise<bigint | undefined> {
  // What fills a nonce has no data: only a chain that charges for more than the execution wants more for it.
  if (mints.length === 0) return gasLimit * 4n;
  const estimate = await node.estimate(signer.address, contract, mints);
  return typeof estimate === 'bigint' ? max((estimate * 5n) / 4n, (gasLimit * 5n) / 4n) : undefined;
}

/** Fits a transaction into the limits: by a lower maximum fee where the market allows it, else by fewer NFTs. */
function fitWithin(last: Plan, market: Market, fees: Fees, limits: NodeLimits): Plan | undefined {
  const count = last.mints.length;
  const cost = costWithin(last.gasLimit, Math.max(1, count));
  const gasOf = (tokens: number) => (tokens === count ? last.gasLimit : gasFor(cost, tokens));
  const feesFor = (gas: bigint) =>
    limits.fee === undefined ? fees : quoteWithin(market, fees, limits.fee / gas);
  const most = Math.min(count, limits.tokens ?? count, limits.gas ? tokensUpTo(last, limits.gas) : count);
  if (count > 0 && most === 0) return undefined;

  const kept = gasOf(most);
  const keptFees = feesFor(kept);
  if (keptFees !== undefined) return { mints: last.mints.slice(0, most), gasLimit: kept, fees: keptFees };
  if (limits.fee === undefined || count === 0) return undefined;
  const tokens = Math.max(1, Math.min(most, tokensWithin(cost, limits.fee / fees.maxFeePerGas)));
  const gasLimit = gasOf(tokens);
  const lower = feesFor(gasLimit);
  return lower && { mints: last.mints.slice(0, tokens), gasLimit, fees: lower };
}

const tokensUpTo = ({ gasLimit, mints }: Plan, gas: bigint): number =>
  gasLimit <= gas ? mints.length : tokensWithin(costWithin(gasLimit, mints.length), gas);

const differs = (plan: Plan, last: Plan): boolean =>
  plan.mints.length !== last.mints.length ||
  plan.gasLimit !== last.gasLimit ||
  plan.fees.maxFeePerGas !== last.fees.maxFeePerGas ||
  plan.fees.maxPriorityFeePerGas !== last.fees.maxPriorityFeePerGas;

const max = (a: bigint, b: bigint) => (a > b ? a : b);

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
