import type { Fees } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { setContractPause } from '../../minting/compare/compared-contract-store.ts';
import { lockFreeNfts } from '../../minting/mint-state-store.ts';
import { pauseForComparison } from '../audit/comparison.ts';
import { listInFlight } from '../context/in-flight.ts';
import { mostFailingMs } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { quoteAt } from '../context/market.ts';
import { endRest, listRested, listResting, rest } from '../context/rests.ts';
import { takeAskedProbes } from '../stores/contract-breaker-store.ts';
import { findOrders, type Pause } from '../stores/lane-store.ts';
import { listLinesByTurn, type QueuedLine } from '../stores/queued-nft-store.ts';
import type { DueRefresh } from '../stores/refresh-store.ts';
import { listRefusedMints } from '../stores/refusal-store.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import { fillAsked, fillGap } from './fill-gap.ts';
import { isDue } from './refusal.ts';
import { sendRefresh } from './send-refresh.ts';
import { sendToContract } from './send-to-contract.ts';

/** What is to be sent. */
export type ToSend = { readonly hasQueued: boolean; readonly refresh: DueRefresh | undefined };

/**
 * Fills gaps of nonces, then sends what is queued on the network, as far as fees, funds and limits allow. A report of changed
 * metadata comes last.
 * @returns why it sends nothing, or not everything; undefined when nothing is wrong
 */
export async function send(
  context: LaneContext,
  head: Head,
  { hasQueued, refresh }: ToSend,
): Promise<Pause | undefined> {
  const { db, lease } = context;
  const { isStopped, recovery, fillNonce } = await findOrders(db, lease);
  if (isStopped) return { reason: 'operator', detail: 'Stopped by an operator.' };
  if (recovery !== null) return { reason: 'recovery_needed', detail: recovery };
  if (fillNonce !== null) await fillAsked(context, head, BigInt(fillNonce));
  const gap = await fillGap(context, head);
  // Nonces after a rejected one are not mined either.
  const isRefused = [...context.memory.transactions.values()].some(({ refused }) => refused !== undefined);
  if (!(hasQueued || refresh) || gap !== undefined || isRefused) return gap;
  const fees = await quoteAt(context, head);
  if (fees === undefined) {
    if (!hasQueued) return undefined;
    return { reason: 'fee_above_cap', detail: `Gas costs more than ${context.settings.feeCap} wei.` };
  }
  const pause = hasQueued ? await sendToContracts(context, head, fees) : undefined;
  if (refresh !== undefined && pause === undefined && !context.stopping.aborted)
    await sendRefresh(context, head, fees, refresh);
  return pause;
}

// The lane still sends to other contracts.
const isOfContract = ({ reason }: Pause) =>
  ['contract_refuses', 'contract_unanswered', 'history_searched', 'history_unavailable'].includes(reason);

// Each try costs statements and questions, while transactions in flight wait. The next poll goes on with others.
const mostInVain = 10;

/** Sends one batch after another, each to the contract of the company whose turn it is. */
async function sendToContracts(context: LaneContext, head: Head, fees: Fees): Promise<Pause | undefined> {
  const { memory, stopping } = context;
  for (const asked of await takeAskedProbes(context.db, context.lease.chainId))
    endRest(context, 'mints', asked);
  const done = new Set(listResting(context, 'mints'));
  const locked = [...(await lockFreeNfts(context.db, memory.locked))];
  memory.locked = locked;
  const vainOf = new Map<string, number>();
  let failingMs = 0;
  let isLate = false;
  const vainBefore = ({ companyId }: QueuedLine) => vainOf.get(companyId) ?? 0;
  for (let vain = 0; vain < mostInVain && !stopping.aborted; ) {
    const inFlight = await listInFlight(context);
    const refused = await listRefusedMints(context.db, context.lease.chainId);
    const resting = refused.filter((mint) => !isDue(context, head, mint)).map(({ nftId }) => nftId);
    const nftIds = [...resting, ...locked];
    const inTurn = await listLinesInTurn(context, inFlight, { contracts: [...done], nftIds });
    // So that a company with many contracts that mint nothing does not use up each poll.
    const lines = inTurn.toSorted((one, other) => vainBefore(one) - vainBefore(other));
    const [next] = lines;
    if (next === undefined) break;
    const { contract } = next;
    const companyIds = lines.flatMap((line) => (line.contract === contract ? [line.companyId] : []));
    const ofContract = refused.filter((mint) => mint.contract === contract);
    const begun = context.now();
    const result =
      (await pauseForComparison(context, head, contract)) ??
      (await sendToContract(
        context,
        { head, contract, companyIds, inFlight, refused: ofContract, locked },
        fees,
      ));
    const pause = typeof result === 'string' || !isOfContract(result) ? undefined : result;
    // It is a matter of the NFTs of this contract only.
    await setContractPause(context.db, { chainId: context.lease.chainId, contract }, pause);
    if (result === 'sent') continue;
    if (typeof result !== 'string' && pause === undefined) return result;
    if (pause !== undefined && pause.reason !== 'history_searched') rest(context, 'mints', contract);
    done.add(contract);
    vain += 1;
    for (const id of companyIds) vainOf.set(id, (vainOf.get(id) ?? 0) + 1);
    if (pause?.reason === 'contract_unanswered') failingMs += context.now() - begun;
    if (failingMs <= mostFailingMs) continue;
    // The second time ends the poll: a node may hang at any contract.
    if (isLate) break;
    isLate = true;
    failingMs = 0;
    // Of those that have failed before, each poll asks about one. The others are not delayed any longer.
    for (const failed of listRested(context, 'mints')) done.add(failed);
  }
  return undefined;
}

/** Lists lines of the queue with room, the one whose turn it is first; none when nothing can be sent. */
async function listLinesInTurn(
  context: LaneContext,
  inFlight: readonly OpenTransaction[],
  excluded: { readonly contracts: readonly string[]; readonly nftIds: readonly string[] },
): Promise<readonly QueuedLine[]> {
  const { db, lease, settings } = context;
  if (inFlight.length >= settings.maxInFlight) return [];
  const lines = await listLinesByTurn(db, {
    chainId: lease.chainId,
    signer: lease.signer,
    mostInFlight: Math.max(1, Math.floor(settings.maxInFlight / 2)),
    inFlight: inFlight.map(({ id }) => id),
    excludedContracts: excluded.contracts,
    excludedNftIds: excluded.nftIds,
  });
  return lines.filter(({ hasRoom }) => hasRoom);
}
