import { setTimeout as delay } from 'node:timers/promises';
import { least } from '../../../base/bigint.ts';
import type { Fees } from '../../../chain/minting/fees.ts';
import {
  type GasCost,
  gasCostOf,
  gasFor,
  mostGas,
  timesGas,
  tokensWithin,
  transactionGas,
} from '../../../chain/minting/gas.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { balanceAfter } from '../context/in-flight.ts';
import { answersOthers, isOfNode, wordsOf } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { mostTokensOf } from '../context/market.ts';
import { endRest } from '../context/rests.ts';
import {
  type ContractBreaker,
  findBreaker,
  mostFailures,
  takeProbe,
} from '../stores/contract-breaker-store.ts';
import type { Pause } from '../stores/lane-store.ts';
import { listQueuedMints, lockQueuedMints, type QueuedMint } from '../stores/queued-nft-store.ts';
import { noteKnownRecipients, type RefusedMint } from '../stores/refusal-store.ts';
import { findRetrySizes } from '../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import { pauseForMissing } from './missing-contract.ts';
import { nextNonce } from './nonce.ts';
import { handleRefusal, recheckRefused } from './refusal.ts';
import { type Blamed, type SizedBatch, sizeBatch } from './size-batch.ts';
import { storeAndSend } from './store-and-send.ts';

/** A contract, and the newest block when it is its turn. */
type Target = {
  readonly head: Head;
  readonly contract: string;
  /** Those that may have NFTs in the next transaction, the one whose turn it is first. */
  readonly companyIds: readonly string[];
  readonly inFlight: readonly OpenTransaction[];
  /** Mints whose recipient the contract has rejected. */
  readonly refused: readonly RefusedMint[];
  /** NFTs whose rows other transactions of the database have locked. */
  readonly locked: readonly string[];
};

/**
 * Sends one batch to a contract.
 * @returns `done` when nothing more can be sent to it now; a pause when that has a reason
 */
export async function sendToContract(
  context: LaneContext,
  target: Target,
  fees: Fees,
): Promise<'sent' | 'done' | Pause> {
  const { memory, stopping } = context;
  const { contract, head } = target;
  if (!memory.costs.has(contract)) {
    const missing = await pauseForMissing(context, head, contract);
    if (missing !== undefined) return missing;
  }
  const breaker = await findBreaker(context.db, { chainId: context.lease.chainId, contract });
  const isFailing = breaker.failures + countReverts(context, contract) >= mostFailures;
  const mintsNothing: Pause = {
    reason: 'contract_refuses',
    detail: `${mostFailures} transactions in a row to ${contract} minted nothing; one in an hour is sent.`,
  };
  if (isFailing && !breaker.isProbeDue) return mintsNothing;
  const room = await roomFor(context, target, fees, breaker);
  if (room === undefined) return 'done';
  if ('reason' in room) return room;
  const refused = await askAbout(context, contract, () => recheckRefused(context, head, target.refused));
  if ('reason' in refused) return refused;
  const candidates = await listCandidates(context, { ...target, refused }, isFailing ? 1 : room.limit);
  if (candidates.length === 0) return 'done';
  const { cost, gas, limit } = room;
  const sized = await askAbout(context, contract, () =>
    sizeBatch(context, {
      contract,
      cost,
      fees,
      mints: candidates,
      mostGas: gas,
      gasFactor: breaker.gasFactor,
    }),
  );
  if ('reason' in sized) return sized;
  // An estimate that passes shows that the contract mints.
  if (sized.batch !== undefined) memory.mintsAt.set(contract, head.hash);
  const pause = await handleBlamed(context, target, sized.blamed);
  if (pause !== undefined) return pause;
  memory.costs.set(contract, sized.cost);
  endRest(context, 'mints', contract);
  if (sized.batch === undefined) return 'done';

  // Read for each batch, since somebody else may use the key meanwhile.
  const nonce = await nextNonce(context, head);
  if (typeof nonce !== 'bigint') return nonce;
  const { gasFactor } = breaker;
  if (!(await sendBatch(context, target, sized.batch, { fees, gasFactor, isProbe: isFailing, nonce })))
    return isFailing ? mintsNothing : 'done';
  const sent = sized.batch.mints.length;
  // A short rest collects more mints. Fewer and fuller transactions cost less.
  const restMs = sent < limit ? Math.min(sent * restPerNftMs, maxRestMs) : 0;
  await delay(restMs, undefined, { signal: stopping }).catch(() => {});
  return 'sent';
}

type Sending = {
  readonly fees: Fees;
  readonly gasFactor: bigint;
  readonly isProbe: boolean;
  readonly nonce: bigint;
};

/**
 * Sends one transaction. It is signed before it is stored, since a signature may come from outside, and no transaction of the
 * database waits for that.
 * @returns false when not all of the batch is queued any more, or the contract has had its probe: then nothing is sent
 */
async function sendBatch(
  context: LaneContext,
  { contract, head }: Target,
  { gasLimit, mints }: SizedBatch,
  { fees, gasFactor, isProbe, nonce }: Sending,
): Promise<boolean> {
  const { chainId } = context.lease;
  const signed = await context.signer.sign({ chainId, nonce, contract, mints, gasLimit, fees });
  await context.step('signed', { nonce: nonce.toString(), hash: signed.hash });
  const created = { nonce, contract, gasLimit, gasFactor, mints, signed, fees, sentAtBlock: head.number };
  return storeAndSend(context, created, async (tx) => {
    const locked = await lockQueuedMints(tx, mints);
    // The next poll leaves them out, so that they delay no others.
    context.memory.locked = [...context.memory.locked, ...locked];
    return locked.length === 0 && (!isProbe || takeProbe(tx, { chainId, contract }));
  });
}

/**
 * Asks what a mint of a contract would do. What nodes do not answer about one, while they answer other questions, must not
 * keep the others from being sent.
 * @returns the answer, or why nothing is sent to the contract
 * @throws what it failed with, when the nodes answer nothing else
 */
async function askAbout<T>(
  { node, stopping }: LaneContext,
  contract: string,
  ask: () => Promise<T>,
): Promise<T | Pause> {
  try {
    return await ask();
  } catch (error) {
    if (stopping.aborted || !isOfNode(error) || !(await answersOthers(node, error, stopping))) throw error;
    node.preferOthers();
    const detail = `The nodes do not say what a mint of ${contract} would do: ${wordsOf(error)}`;
    return { reason: 'contract_unanswered', detail };
  }
}

/** Counts mints that were reverted in blocks that are not final yet. */
function countReverts({ memory }: LaneContext, contract: string): number {
  const mined = [...memory.transactions.values()].flatMap((known) => known.mined ?? []);
  const isRevert = ({ receipt, rwaId }: (typeof mined)[number]) =>
    !receipt.succeeded && rwaId === null && receipt.to?.toLowerCase() === contract.toLowerCase();
  return mined.filter(isRevert).length;
}

const restPerNftMs = 5;
const maxRestMs = 400;

type Room = {
  /** The most NFTs of a transaction, by what is known of the contract. */
  readonly limit: number;
  /** The most gas that a transaction may have. */
  readonly gas: bigint;
  readonly cost: GasCost;
};

/** What the next transaction may have. @returns a pause when it may have nothing; undefined when others come first */
async function roomFor(
  context: LaneContext,
  { contract, head, inFlight }: Target,
  fees: Fees,
  { gasFactor }: ContractBreaker,
): Promise<Room | Pause | undefined> {
  const { memory, settings, signer } = context;
  // Until there is an estimate: that of our own contract.
  const cost = timesGas(memory.costs.get(contract) ?? gasCostOf(0n), gasFactor);
  const left = await balanceAfter(context, inFlight);
  const available = left > 0n ? left : 0n;
  const most = mostGas({ blockGasLimit: head.gasLimit, blockShare: settings.blockShare });
  // When gas is free, the balance is no limit.
  const payable = fees.maxFeePerGas === 0n ? most : available / fees.maxFeePerGas;
  const gas = least(most, payable);
  const learned = mostTokensOf(context, contract);
  const limit = Math.min(tokensWithin(cost, gas), learned);
  if (limit > 0) return { limit, gas, cost };
  if (learned === 0) {
    const detail = `No node has taken a transaction with one mint of ${contract}. It is tried again after an hour.`;
    return { reason: 'contract_refuses', detail };
  }
  if (tokensWithin(cost, payable) > 0) {
    const detail = `One mint on ${contract} needs ${gasFor(cost, 1)} gas, ${gasFactor} times what estimates say. A transaction may have ${most}: MINT_BLOCK_SHARE_PERCENT (${settings.blockShare}) of the block's limit of ${head.gasLimit}, and at most ${transactionGas}.`;
    return { reason: 'contract_refuses', detail };
  }
  // Transactions in flight reserve more than they will cost. Once they are mined, there may be enough.
  if (inFlight.length > 0) return undefined;
  // Mints on other contracts may cost far less.
  if (tokensWithin(gasCostOf(0n), payable) > 0) {
    const detail = `One mint on ${contract} needs ${gasFor(cost, 1)} gas at up to ${fees.maxFeePerGas} wei. ${signer.address} has ${available} wei, too little for that.`;
    return { reason: 'contract_refuses', detail };
  }
  return {
    reason: 'balance_too_low',
    detail: `${signer.address} has ${available} wei, too little for a mint.`,
  };
}

/**
 * Lists what the next transaction may mint. What failed in a transaction is tried again in halves, so that it cannot make
 * the mints of others fail for long.
 */
async function listCandidates(
  context: LaneContext,
  { companyIds, contract, head, locked, refused }: Target,
  limit: number,
): Promise<readonly QueuedMint[]> {
  const { db, lease } = context;
  const { chainId } = lease;
  const excludedNftIds = [...idsOf(refused), ...locked];
  const listed = await listQueuedMints(db, { chainId, contract, companyIds, excludedNftIds, limit });
  const known = await noteKnownRecipients(db, { chainId, contract }, idsOf(listed), head.number);
  const queued = listed.filter(({ nftId }) => !known.has(nftId));
  const sizes = await findRetrySizes(db, idsOf(queued));
  const retried = queued.filter(({ nftId }) => sizes.has(nftId));
  const [first] = retried;
  return first === undefined ? queued : retried.slice(0, sizes.get(first.nftId));
}

const idsOf = (mints: readonly QueuedMint[]) => mints.map(({ nftId }) => nftId);

/** Handles the NFTs that the contract rejects. @returns why it mints nothing at all, if so */
async function handleBlamed(
  context: LaneContext,
  { contract, head }: Target,
  blamed: readonly Blamed[],
): Promise<Pause | undefined> {
  for (const { mint, refusal } of blamed) {
    const pause = await handleRefusal(context, head, { ...mint, contract }, refusal);
    if (pause === undefined) continue;
    // So that the next poll checks the contract first.
    context.memory.costs.delete(contract);
    return pause;
  }
  return undefined;
}
