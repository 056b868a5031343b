import type { Head } from '../../../chain/minting/mint-node.ts';
import { findRecovery, setContractPause } from '../../minting/compare/compared-contract-store.ts';
import { pauseForComparison } from '../audit/compared.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { limitsOf, marketAt } from '../context/market.ts';
import { quoteFor } from '../context/node-limits.ts';
import { takeTurn } from '../context/turn-memory.ts';
import { isStoppedByOperator, type Pause } from '../stores/lane-store.ts';
import type { NextMint } from '../stores/queued-nft-store.ts';
import { estimateFirst } from './estimate-first.ts';
import { fillGap } from './fill-gap.ts';
import { refuseUnfit } from './refuse-unfit.ts';
import { listInFlight, type Prices, sendToContract } from './send-to-contract.ts';
import { listLinesInTurn, withinShares } from './turns.ts';
import { askAbout, restingContracts } from './unanswered.ts';
import { createVisits } from './visits.ts';

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
  if (recovery !== undefined) {
    // What was found of contracts before it is not told after it.
    context.memory.turns.passed.clear();
    return { reason: 'recovery_needed', detail: recovery };
  }
  const gap = await fillGap(context, head);
  if (lines.length === 0 || gap !== undefined) return gap;
  const market = await marketAt(context, head);
  const fees = quoteFor(market, context.settings.feeCap, limitsOf(context));
  if (fees === undefined) {
    return { reason: 'fee_above_cap', detail: `Gas costs more than ${context.settings.feeCap} wei.` };
  }
  return sendToContracts(context, head, { market, fees });
}

// Others are sent to all the same.
const isOfContract = ({ reason }: Pause) => reason === 'contract_refuses' || reason === 'contract_unanswered';

/** Sends one batch after another, to the contract of the company whose turn it is. */
async function sendToContracts(context: LaneContext, head: Head, prices: Prices): Promise<Pause | undefined> {
  const { memory, stopping } = context;
  const visits = createVisits(context, restingContracts(context));
  while (!stopping.aborted) {
    const inFlight = await listInFlight(context);
    const lines = await listLinesInTurn(context, head, visits.done);
    const open = await withinShares(context, lines, inFlight);
    const next = visits.next(lines, open);
    if (next === undefined) break;
    const { contract, companyId } = next;
    takeTurn(memory.turns, [companyId]);
    const first = (await pauseForComparison(context, head, contract)) ?? (await prepare(context, head, next));
    if (typeof first === 'object' && first.reason === 'recovery_needed') return first;
    if (first !== 'ready') {
      await pauseContract(context, contract, first);
      visits.ended(first ?? 'again');
      continue;
    }
    const companyIds = open.flatMap((line) => (line.contract === contract ? [line.companyId] : []));
    const result = await sendToContract(context, { head, contract, companyIds, inFlight }, prices);
    if (typeof result !== 'string' && !isOfContract(result)) return result;
    await pauseContract(context, contract, typeof result === 'string' ? undefined : result);
    visits.ended(result);
  }
  return undefined;
}

/** Stores why nothing is sent to a contract, which is a matter of its NFTs only; each change once. */
async function pauseContract(
  { db, lease, memory }: LaneContext,
  contract: string,
  pause: Pause | undefined,
): Promise<void> {
  const words = pause === undefined ? '' : `${pause.reason} ${pause.detail}`;
  if (memory.contractPauses.get(contract) === words) return;
  await setContractPause(db, { chainId: lease.chainId, contract }, pause);
  memory.contractPauses.set(contract, words);
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
