import type { Head } from '../../../chain/minting/mint-node.ts';
import { findRecovery } from '../../minting/contract-claim-store.ts';
import { claimForSending } from '../audit/lost-past.ts';
import type { LaneContext } from '../lane-context.ts';
import { limitsOf, marketAt } from '../market.ts';
import { quoteFor } from '../node-limits.ts';
import { isStoppedByOperator, type Pause } from '../stores/lane-store.ts';
import type { NextMint } from '../stores/queued-nft-store.ts';
import { estimateFirst } from './estimate-first.ts';
import { fillGap } from './fill-gap.ts';
import { refuseUnfit } from './refuse-unfit.ts';
import { listInFlight, type Prices, sendToContract } from './send-to-contract.ts';
import { takeTurn } from './turn-memory.ts';
import { listLinesInTurn, withinShares } from './turns.ts';
import { askAbout, restingContracts } from './unanswered.ts';

/**
 * Fills gaps of nonces, then sends what is queued on the network, as far as fees, funds and limits allow.
 * @returns why it sends nothing, or not everything; undefined when nothing is wrong
 */
export async function send(context: LaneContext, head: Head): Promise<Pause | undefined> {
  const { db, lease } = context;
  const [isStopped, recovery, lines] = await Promise.all([
    isStoppedByOperator(db, lease),
    findRecovery(db, lease.chainId),
    listLinesInTurn(context, head, new Set()),
  ]);
  if (isStopped) return { reason: 'operator', detail: 'Stopped by an operator.' };
  if (recovery !== undefined) return recovery;
  const gap = await fillGap(context, head);
  if (lines.length === 0 || gap !== undefined) return gap;
  const market = await marketAt(context, head);
  const fees = quoteFor(market, context.settings.feeCap, limitsOf(context));
  if (fees === undefined) {
    return { reason: 'fee_above_cap', detail: `Gas costs more than ${context.settings.feeCap} wei.` };
  }
  return sendToContracts(context, head, { market, fees });
}

// Each refusal costs several calls to the node, and the transactions in flight must be watched meanwhile.
const maxRefusalsPerPoll = 10;

// Others are sent to all the same.
const isOfContract = ({ reason }: Pause) => reason === 'contract_refuses' || reason === 'contract_unanswered';

/** Sends one batch after another, to the contract of the company whose turn it is. */
async function sendToContracts(context: LaneContext, head: Head, prices: Prices): Promise<Pause | undefined> {
  const { memory, stopping } = context;
  const resting = restingContracts(context);
  const doneContracts = new Set(resting.keys());
  const refusals = new Map<string, number>();
  let refused = [...resting.values()][0];
  while (!stopping.aborted) {
    const inFlight = await listInFlight(context);
    const lines = await listLinesInTurn(context, head, doneContracts);
    const open = await withinShares(context, lines, inFlight);
    const next = open[0] ?? lines[0];
    if (next === undefined) break;
    const { contract, companyId } = next;
    takeTurn(memory.turns, [companyId]);
    const shared = await claimForSending(context, head, contract);
    if (shared !== undefined) {
      doneContracts.add(contract);
      refused = shared;
      continue;
    }
    const first = await prepare(context, head, next);
    if (first === 'ready') {
      const companyIds = open.flatMap((line) => (line.contract === contract ? [line.companyId] : []));
      const result = await sendToContract(context, { head, contract, companyIds, inFlight }, prices);
      if (result === 'sent') continue;
      doneContracts.add(contract);
      if (result !== 'done' && !isOfContract(result)) return result;
      refused = result === 'done' ? refused : result;
    } else {
      const count = (refusals.get(contract) ?? 0) + 1;
      refusals.set(contract, count);
      if (first !== undefined || count >= maxRefusalsPerPoll) doneContracts.add(contract);
      refused = first ?? refused;
    }
  }
  return refused;
}

/**
 * Finds what a contract uses, before the first batch for it.
 * @returns `ready`, or why nothing can be minted on the contract; undefined when only this NFT cannot
 */
async function prepare(
  context: LaneContext,
  head: Head,
  next: NextMint,
): Promise<'ready' | Pause | undefined> {
  if (context.memory.costs.has(next.contract)) return 'ready';
  const unfit = await refuseUnfit(context, head, next.contract);
  if (unfit !== undefined) return unfit === 'refused' ? undefined : unfit;
  return askAbout(context, next.contract, () => estimateFirst(context, head, next));
}
