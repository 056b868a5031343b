import type { Refusal } from '../../../../chain/minting/broadcast-error.ts';
import { type Fees, type Market, quoteWithin } from '../../../../chain/minting/fees.ts';
import { costWithin, gasFor, mostGas, tokensWithin } from '../../../../chain/minting/gas.ts';
import type { Head } from '../../../../chain/minting/mint-node.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import { limitsOf, marketAt } from '../../context/market.ts';
import { type NodeLimits, quoteFor } from '../../context/node-limits.ts';
import type { Plan } from './same-attempt.ts';

/**
 * Plans an attempt within what nodes take, that has no more what they refused about the last one.
 * @returns undefined when there is none, at present
 */
export async function planWithin(
  context: LaneContext,
  head: Head,
  refusal: Refusal,
  last: Plan & { readonly contract: string },
): Promise<Plan | undefined> {
  if (refusal.kind === 'invalid') return undefined;
  const { settings } = context;
  const limits = limitsOf(context);
  const market = await marketAt(context, head);
  const fees = quoteFor(market, settings.feeCap, limits);
  if (fees === undefined) return undefined;
  const gasLimit = refusal.kind === 'gas_too_low' ? await enoughGas(context, last) : last.gasLimit;
  const most = mostGas({ blockGasLimit: head.gasLimit, blockShare: 100 });
  if (gasLimit === undefined || (gasLimit > last.gasLimit && gasLimit > most)) return undefined;
  const plan = fitWithin({ ...last, gasLimit }, market, fees, limits);
  return plan !== undefined && meets(refusal, plan, last) ? plan : undefined;
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

const max = (a: bigint, b: bigint) => (a > b ? a : b);

/** A price that only moves gives no new attempt, and none comes back: each goes further in one direction. */
function meets({ kind, bound }: Refusal, plan: Plan, last: Plan): boolean {
  switch (kind) {
    case 'fee_cap':
      return plan.gasLimit * plan.fees.maxFeePerGas < last.gasLimit * last.fees.maxFeePerGas;
    case 'gas_limit':
      return plan.gasLimit < last.gasLimit;
    case 'gas_too_low':
      return plan.gasLimit * countOf(last) > last.gasLimit * countOf(plan);
    case 'too_large':
      return plan.mints.length < last.mints.length;
    case 'type':
      return plan.fees.maxPriorityFeePerGas === null && last.fees.maxPriorityFeePerGas !== null;
    case 'tip_too_low':
      return bound === undefined
        ? isDearer(plan.fees, last.fees)
        : tipOf(plan.fees) >= bound && tipOf(last.fees) < bound;
    case 'invalid':
      return false;
  }
}

const countOf = ({ mints }: Plan): bigint => BigInt(Math.max(1, mints.length));

const tipOf = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees): bigint => maxPriorityFeePerGas ?? maxFeePerGas;

const isDearer = (one: Fees, other: Fees): boolean =>
  tipOf(one) > tipOf(other) || (tipOf(one) === tipOf(other) && one.maxFeePerGas > other.maxFeePerGas);
