import { setTimeout as pause } from 'node:timers/promises';
import { type Fees, feesInWords, quote } from '../../chain/minting/fees.ts';
import { type GasCost, gasCostOf, gasFor, tokensPerTransaction } from '../../chain/minting/gas.ts';
import type { Head } from '../../chain/minting/mint-node.ts';
import type { Tx } from '../../contract/transaction.ts';
import { submitNfts } from '../minting/mint-state-store.ts';
import type { LaneContext } from './lane-context.ts';
import type { Pause } from './lane-store.ts';
import { vainTriesOf } from './outcome-store.ts';
import { asideAt, settleRefusal } from './refusal.ts';
import {
  highestNonce,
  insertTransaction,
  nextWaiting,
  type OpenTransaction,
  openTransactions,
  takeWaiting,
  type Waiting,
} from './transaction-store.ts';
import { handOver } from './watch.ts';

/** Sends what waits, as far as it may. @returns why it does not send, or not all; undefined when nothing is wrong */
export async function send(context: LaneContext, head: Head): Promise<Pause | undefined> {
  const { db, lanes, lease, network, node, settings, signer, stopping } = context;
  const [isStopped, first] = await Promise.all([
    lanes.isStoppedByOperator(lease),
    nextWaiting(db, network.chainId, { contracts: [], nfts: [] }),
  ]);
  if (isStopped) return { reason: 'operator', detail: 'Stopped by an operator.' };
  if (first === undefined) return undefined;
  const fees = quote(await node.market(head), settings.feeCap);
  if (fees === undefined) {
    return { reason: 'fee_above_cap', detail: `Gas costs more than ${settings.feeCap} wei.` };
  }
  const done: string[] = [];
  const refusals: string[] = [];
  let refused: Pause | undefined;
  while (!stopping.aborted) {
    const aside = asideAt(context, head);
    const mint = await nextWaiting(db, network.chainId, { contracts: done, nfts: aside });
    if (mint === undefined) break;
    const { contract } = mint;
    const estimate = await node.estimate(signer.address, contract, [mint]);
    if (typeof estimate === 'bigint') {
      done.push(contract);
      const batch = { head, contract, aside, fees, cost: gasCostOf(estimate) };
      const lack = await sendForContract(context, batch);
      if (lack !== undefined) return lack;
    } else {
      const found = await settleRefusal(context, head, mint, estimate.refusal);
      refusals.push(contract);
      const isEnough = refusals.filter((each) => each === contract).length >= refusalsInALook;
      if (found !== undefined || isEnough) done.push(contract);
      refused = found ?? refused;
    }
  }
  return refused;
}

// Each costs some questions to the node, and what is in flight wants to be watched.
const refusalsInALook = 10;

type Batch = {
  readonly head: Head;
  readonly contract: string;
  /** NFTs that wait for something else. */
  readonly aside: readonly string[];
  readonly fees: Fees;
  readonly cost: GasCost;
};

/** Sends batches until nothing waits for the contract or enough is in flight. */
async function sendForContract(context: LaneContext, batch: Batch): Promise<Pause | undefined> {
  const { db, lease, memory, node, settings, signer, stopping } = context;
  for (;;) {
    if (stopping.aborted) return undefined;
    const [open, balance] = await Promise.all([openTransactions(db, lease), node.balance(signer.address)]);
    const unmined = open.filter(({ id, confirmedIn }) => confirmedIn === null && !memory.mined.has(id));
    if (unmined.length >= settings.maxInFlight) return undefined;
    const reserved = unmined.reduce((sum, each) => sum + costOf(each), 0n);
    const free = balance - reserved;
    const limit = tokensPerTransaction({
      cost: batch.cost,
      blockGasLimit: batch.head.gasLimit,
      blockShare: settings.blockShare,
      affordable: free > 0n ? free / batch.fees.maxFeePerGas : 0n,
    });
    if (limit === 0) {
      // What is in flight holds money back that it will not need.
      if (unmined.length > 0) return undefined;
      return {
        reason: 'balance_too_low',
        detail: `${signer.address} has ${free} wei, too little for a mint.`,
      };
    }
    // Each time anew: somebody else may use the key while this goes on.
    const firstNonce = await nextNonce(context, batch.head);
    if (typeof firstNonce !== 'bigint') return firstNonce;
    const sent = await sendBatch(context, batch, firstNonce, limit);
    if (sent === 0) return undefined;
    // While many are accepted, those of the next moment go together: fewer and fuller transactions cost less.
    const restMs = sent < limit ? Math.min(sent * restPerNftMs, longestRestMs) : 0;
    await pause(restMs, undefined, { signal: stopping }).catch(() => {});
  }
}

const restPerNftMs = 5;
const longestRestMs = 400;

const costOf = ({ gasLimit, attempts: [newest] }: OpenTransaction) => gasLimit * newest.fees.maxFeePerGas;

/** Signs and stores one transaction, then sends it. @returns how many NFTs it mints; 0 when none waits for the contract */
async function sendBatch(
  context: LaneContext,
  batch: Batch,
  firstNonce: bigint,
  limit: number,
): Promise<number> {
  const { lanes, lease, signer, step } = context;
  const { aside, contract, cost, fees, head } = batch;
  const stored = await lanes.fenced(lease, async (tx) => {
    const items = await apart(tx, await takeWaiting(tx, { chainId: lease.chainId, contract, aside, limit }));
    if (items.length === 0) return undefined;
    const highest = await highestNonce(tx, lease);
    const nonce = highest === undefined || firstNonce > highest ? firstNonce : highest + 1n;
    const gasLimit = gasFor(cost, items.length);
    const plan = { chainId: lease.chainId, nonce, contract, gasLimit, fees };
    const signed = await signer.sign({ ...plan, mints: items });
    await step('signed', { nonce: nonce.toString(), hash: signed.hash });
    const id = await insertTransaction(tx, lease, { ...plan, signed, items, sentAtBlock: head.number });
    await submitNfts(
      tx,
      items.map(({ nftId }) => nftId),
    );
    return { id, ...signed, nonce, nftIds: items.map(({ nftId }) => nftId) };
  });
  if (stored === undefined) return 0;
  const details = {
    transaction: stored.id,
    nonce: stored.nonce.toString(),
    attempt: 1,
    hash: stored.hash,
    ...feesInWords(fees),
  };
  await step('stored', { ...details, nftIds: stored.nftIds });
  await handOver(context, stored, stored);
  await step('sent', details);
  return stored.nftIds.length;
}

/** One whose mint came to nothing goes alone the next time: it must not take others with it again. */
async function apart(tx: Tx, items: readonly Waiting[]): Promise<readonly Waiting[]> {
  const tried = await vainTriesOf(
    tx,
    items.map(({ nftId }) => nftId),
  );
  const first = items.find(({ nftId }) => tried.has(nftId));
  return first === undefined ? items : [first];
}

/**
 * The first nonce that is ours to use, from stored rows. Where somebody else has used the key, nonces are not
 * ours to guess: what of ours is open must end first, and what the other has sent must be final. Otherwise a
 * reorganisation that takes it back would leave a gap that nobody fills.
 */
async function nextNonce(context: LaneContext, head: Head): Promise<bigint | Pause> {
  const { db, lease, log, network, node, signer } = context;
  const pending = await node.transactionCount(signer.address, 'pending');
  const highest = await highestNonce(db, lease);
  // What the signer did before it was ours is not known, and needs only a block.
  const latest = highest === undefined ? await node.transactionCount(signer.address, 'latest') : 0n;
  const ours = highest === undefined ? latest : highest + 1n;
  if (pending <= ours) return ours;
  const isOpen = (await openTransactions(db, lease)).some(({ confirmedIn }) => confirmedIn === null);
  const finalized = await node.finalized(head, network.finalityDepth);
  if (!isOpen && (await node.transactionCount(signer.address, finalized)) === pending) {
    log.warn({ ours: ours.toString(), next: pending.toString() }, 'nonces skipped: somebody else used them');
    return pending;
  }
  const detail = `Somebody else has used the key: ${pending} transactions, of which we know up to ${ours}.`;
  return { reason: 'foreign_nonce', detail };
}
