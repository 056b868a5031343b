import { setTimeout as delay } from 'node:timers/promises';
import { type Fees, type Market, quoteWithin } from '../../../chain/minting/fees.ts';
import { type GasCost, gasFor, mostGas, tokensWithin } from '../../../chain/minting/gas.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { limitsOf } from '../context/market.ts';
import { takeTurn } from '../context/turn-memory.ts';
import type { Pause } from '../stores/lane-store.ts';
import { listQueuedMints, type QueuedMint } from '../stores/queued-nft-store.ts';
import { countFailedAttempts } from '../stores/transaction-nft-store.ts';
import { listUnconfirmedTransactions, type OpenTransaction } from '../stores/transaction-store.ts';
import { nextNonce } from './nonce.ts';
import { deferredNfts, handleRefusal } from './refusal.ts';
import { sendBatch } from './send-batch.ts';
import { type Blamed, sizeBatch } from './size-batch.ts';
import { askAbout } from './unanswered.ts';

/** The market, and what is offered for it. */
export type Prices = { readonly market: Market; readonly fees: Fees };

/** A contract, and the newest block when it is its turn. */
type Target = {
  readonly head: Head;
  readonly contract: string;
  /** Those that may have NFTs in the next transaction, the one whose turn it is first. */
  readonly companyIds: readonly string[];
  readonly inFlight: readonly OpenTransaction[];
};

/**
 * Sends one batch to a contract.
 * @returns `done` when nothing more can be sent to it now; a pause when that has a reason
 */
export async function sendToContract(
  context: LaneContext,
  target: Target,
  prices: Prices,
): Promise<'sent' | 'done' | Pause> {
  const { memory, stopping } = context;
  const room = await roomFor(context, target, prices);
  if (room === undefined) return 'done';
  if ('reason' in room) return room;
  const candidates = await listCandidates(context, target, room.limit);
  if (candidates.length === 0) return 'done';
  takeTurn(
    memory.turns,
    candidates.map(({ companyId }) => companyId),
  );

  const { contract, head } = target;
  const { cost, gas, fees, limit } = room;
  const sized = await askAbout(context, contract, () =>
    sizeBatch(context, { contract, mints: candidates, cost, mostGas: gas }),
  );
  if ('reason' in sized) return sized;
  memory.costs.set(contract, sized.cost);
  const refused = await handleBlamed(context, target, sized.blamed);
  if (refused !== undefined) return refused;
  if (sized.batch === undefined) return 'done';

  // Determined for each batch: somebody else may use the key in the meantime.
  const firstNonce = await nextNonce(context, head);
  if (typeof firstNonce !== 'bigint') return firstNonce;
  const sent = await sendBatch(context, { ...sized.batch, head, contract, fees, firstNonce });
  if (sent === 0) return 'done';
  // A short rest collects mints that are being accepted: fewer and fuller transactions cost less.
  const restMs = sent < limit ? Math.min(sent * restPerNftMs, maxRestMs) : 0;
  await delay(restMs, undefined, { signal: stopping }).catch(() => {});
  return 'sent';
}

/** Lists the transactions of the lane that are in no block. */
export async function listInFlight({ db, lease, memory }: LaneContext): Promise<OpenTransaction[]> {
  const unconfirmed = await listUnconfirmedTransactions(db, lease);
  return unconfirmed.filter(({ id }) => !memory.mined.has(id));
}

const restPerNftMs = 5;
const maxRestMs = 400;

type Room = {
  /** The most NFTs of a transaction, by what is known of the contract. */
  readonly limit: number;
  /** The most gas that a transaction may have. */
  readonly gas: bigint;
  readonly fees: Fees;
  readonly cost: GasCost;
};

/** What the next transaction may have. @returns a pause when it may have nothing; undefined when others come first */
async function roomFor(
  context: LaneContext,
  { companyIds, contract, head, inFlight }: Target,
  prices: Prices,
): Promise<Room | Pause | undefined> {
  const { memory, node, settings, signer } = context;
  const cost = memory.costs.get(contract);
  if (cost === undefined || companyIds.length === 0) return undefined;
  const balance = await node.balance(signer.address);

  const limits = limitsOf(context);
  const fees = feesForOne(prices, cost, limits.fee);
  if (fees === undefined) {
    const detail = `Nodes take no transaction of more than ${limits.fee} wei, less than one mint costs.`;
    return { reason: 'broadcast_refused', detail };
  }
  const reserved = inFlight.reduce((sum, transaction) => sum + maxCostOf(transaction), 0n);
  const available = balance > reserved ? balance - reserved : 0n;
  const bounds = [
    mostGas({ blockGasLimit: head.gasLimit, blockShare: settings.blockShare }),
    available / fees.maxFeePerGas,
    ...(limits.gas === undefined ? [] : [limits.gas]),
    ...(limits.fee === undefined ? [] : [limits.fee / fees.maxFeePerGas]),
  ];
  const gas = bounds.reduce(lower);
  const limit = Math.min(tokensWithin(cost, gas), limits.tokens ?? Number.POSITIVE_INFINITY);
  if (limit > 0) return { limit, gas, fees, cost };
  if (tokensWithin(cost, available / fees.maxFeePerGas) > 0) {
    const detail = `One mint on ${contract} needs ${gasFor(cost, 1)} gas; a transaction may have ${gas}.`;
    return { reason: 'broadcast_refused', detail };
  }
  // Transactions in flight reserve more than they will cost: once they are mined there may be enough.
  if (inFlight.length > 0) return undefined;
  return {
    reason: 'balance_too_low',
    detail: `${signer.address} has ${available} wei, too little for a mint.`,
  };
}

/** The fees on offer, or lower ones when nodes would not take even a single mint at these. */
const feesForOne = ({ market, fees }: Prices, cost: GasCost, limit: bigint | undefined): Fees | undefined =>
  limit === undefined ? fees : quoteWithin(market, fees, limit / gasFor(cost, 1));

const lower = (a: bigint, b: bigint) => (a < b ? a : b);

/** The most that a transaction may cost, in wei. */
const maxCostOf = ({ gasLimit, attempts: [newest] }: OpenTransaction): bigint =>
  gasLimit * newest.fees.maxFeePerGas;

/**
 * Lists what the next transaction may mint. An NFT with a failed attempt goes alone, so that it cannot make the mints
 * of others fail again.
 */
async function listCandidates(
  context: LaneContext,
  { companyIds, contract, head }: Target,
  limit: number,
): Promise<readonly (QueuedMint & { readonly companyId: string })[]> {
  const { db, lease } = context;
  const excludedNftIds = deferredNfts(context, head);
  const { chainId } = lease;
  const queued = await listQueuedMints(db, { chainId, contract, companyIds, excludedNftIds, limit });
  const failedAttempts = await countFailedAttempts(
    db,
    queued.map(({ nftId }) => nftId),
  );
  const retry = queued.find(({ nftId }) => failedAttempts.has(nftId));
  return retry === undefined ? queued : [retry];
}

/** Handles the NFTs that the contract refuses. @returns why it mints nothing at all, if so */
async function handleBlamed(
  context: LaneContext,
  { contract, head }: Target,
  blamed: readonly Blamed[],
): Promise<Pause | undefined> {
  for (const { mint, refusal } of blamed) {
    const pause = await handleRefusal(context, head, { ...mint, contract }, refusal);
    if (pause === undefined) continue;
    // Next time one mint is tried before a whole batch is.
    context.memory.costs.delete(contract);
    return pause;
  }
  return undefined;
}
