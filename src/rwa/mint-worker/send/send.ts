import { setTimeout as delay } from 'node:timers/promises';
import { type Fees, quote } from '../../../chain/minting/fees.ts';
import { gasCostOf, tokensPerTransaction } from '../../../chain/minting/gas.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { findRecovery } from '../../minting/contract-claim-store.ts';
import { claimForSending } from '../audit/lost-past.ts';
import type { LaneContext } from '../lane-context.ts';
import { isStoppedByOperator, type Pause } from '../stores/lane-store.ts';
import { findNextMint } from '../stores/queued-nft-store.ts';
import { listOpenTransactions, type OpenTransaction } from '../stores/transaction-store.ts';
import { nextNonce } from './nonce.ts';
import { deferredNfts, handleRefusal } from './refusal.ts';
import { type Batch, sendBatch } from './send-batch.ts';

/**
 * Sends what is queued on the network, as far as fees, funds and limits allow.
 * @returns why it sends nothing, or not everything; undefined when nothing is wrong
 */
export async function send(context: LaneContext, head: Head): Promise<Pause | undefined> {
  const { db, lease, network, node, settings } = context;
  const [isStopped, recovery, oldest] = await Promise.all([
    isStoppedByOperator(db, lease),
    findRecovery(db, lease.chainId),
    findNextMint(db, network.chainId, { contracts: [], nftIds: [] }),
  ]);
  if (isStopped) return { reason: 'operator', detail: 'Stopped by an operator.' };
  if (recovery !== undefined) return recovery;
  if (oldest === undefined) return undefined;
  const fees = quote(await node.market(head), settings.feeCap);
  if (fees === undefined) {
    return { reason: 'fee_above_cap', detail: `Gas costs more than ${settings.feeCap} wei.` };
  }
  return sendToContracts(context, head, fees);
}

// Each refusal costs several calls to the node, and the transactions in flight must be watched meanwhile.
const maxRefusalsPerPoll = 10;

/** Sends to one contract after another, the one with the longest queued NFT first. */
async function sendToContracts(context: LaneContext, head: Head, fees: Fees): Promise<Pause | undefined> {
  const { db, network, node, signer, stopping } = context;
  const doneContracts = new Set<string>();
  const refusals = new Map<string, number>();
  let refused: Pause | undefined;
  while (!stopping.aborted) {
    const excludedNftIds = deferredNfts(context, head);
    const next = await findNextMint(db, network.chainId, {
      contracts: [...doneContracts],
      nftIds: excludedNftIds,
    });
    if (next === undefined) break;
    const { contract } = next;
    const shared = await claimForSending(context, contract);
    if (shared !== undefined) {
      doneContracts.add(contract);
      refused = shared;
      continue;
    }
    const estimate = await node.estimate(signer.address, contract, [next]);

    if (typeof estimate === 'bigint') {
      doneContracts.add(contract);
      const batch = { head, contract, excludedNftIds, fees, cost: gasCostOf(estimate) };
      const pause = await sendToContract(context, batch);
      if (pause !== undefined) return pause;
    } else {
      const pause = await handleRefusal(context, head, next, estimate.refusal);
      const count = (refusals.get(contract) ?? 0) + 1;
      refusals.set(contract, count);
      if (pause !== undefined || count >= maxRefusalsPerPoll) doneContracts.add(contract);
      refused = pause ?? refused;
    }
  }
  return refused;
}

/** Sends batches to one contract until nothing is queued for it or enough transactions are in flight. */
async function sendToContract(context: LaneContext, batch: Batch): Promise<Pause | undefined> {
  const { db, lease, memory, node, settings, signer, stopping } = context;
  while (!stopping.aborted) {
    const [open, balance] = await Promise.all([
      listOpenTransactions(db, lease),
      node.balance(signer.address),
    ]);
    const inFlight = open.filter(({ id, confirmedIn }) => confirmedIn === null && !memory.mined.has(id));
    if (inFlight.length >= settings.maxInFlight) return undefined;

    const reserved = inFlight.reduce((sum, transaction) => sum + maxCostOf(transaction), 0n);
    const available = balance - reserved;
    const limit = tokensPerTransaction({
      cost: batch.cost,
      blockGasLimit: batch.head.gasLimit,
      blockShare: settings.blockShare,
      affordable: available > 0n ? available / batch.fees.maxFeePerGas : 0n,
    });
    if (limit === 0) {
      // Transactions in flight reserve more than they will cost: once they are mined there may be enough.
      if (inFlight.length > 0) return undefined;
      const detail = `${signer.address} has ${available} wei, too little for a mint.`;
      return { reason: 'balance_too_low', detail };
    }

    // Determined for each batch: somebody else may use the key in the meantime.
    const nonce = await nextNonce(context, batch.head);
    if (typeof nonce !== 'bigint') return nonce;
    const sent = await sendBatch(context, batch, { firstNonce: nonce, limit });
    if (sent === 0) return undefined;
    // A short rest collects mints that are being accepted: fewer and fuller transactions cost less.
    const restMs = sent < limit ? Math.min(sent * restPerNftMs, maxRestMs) : 0;
    await delay(restMs, undefined, { signal: stopping }).catch(() => {});
  }
  return undefined;
}

const restPerNftMs = 5;
const maxRestMs = 400;

/** The most that a transaction may cost, in wei. */
const maxCostOf = ({ gasLimit, attempts: [newest] }: OpenTransaction): bigint =>
  gasLimit * newest.fees.maxFeePerGas;
