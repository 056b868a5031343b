import type { Refusal } from '../../../chain/minting/broadcast-error.ts';
import { type Fees, type Market, quote } from '../../../chain/minting/fees.ts';

/**
 * What the nodes of a network take at most, as they said when they refused a transaction. Forgotten after a while,
 * since operators of nodes change it.
 */
export type NodeLimits = {
  /** Gas limit times fee, in wei. */
  readonly fee?: bigint;
  readonly gas?: bigint;
  /** How many tokens one transaction mints. */
  readonly tokens?: number;
  /** The least priority fee, in wei. */
  readonly tip?: bigint;
  /** Only transactions of the oldest type are taken. */
  readonly isLegacy?: boolean;
  /** Time of the lane's clock until which this holds. */
  readonly until?: number;
};

const validMs = 3_600_000;

type Sent = { readonly gasLimit: bigint; readonly tokens: number; readonly fees: Fees };

/**
 * What is known after a refusal. A bound that the node names counts where it is below what it refused; otherwise half
 * of what it refused is tried next.
 */
export function learnLimits(limits: NodeLimits, refusal: Refusal, sent: Sent, now: number): NodeLimits {
  const known: NodeLimits = { ...currentLimits(limits, now), until: now + validMs };
  const below = (refused: bigint) =>
    refusal.bound !== undefined && refusal.bound < refused && refusal.bound > 0n
      ? refusal.bound
      : refused / 2n;
  switch (refusal.kind) {
    case 'fee_cap':
      return { ...known, fee: least(known.fee, below(sent.gasLimit * sent.fees.maxFeePerGas)) };
    case 'gas_limit':
      return { ...known, gas: least(known.gas, below(sent.gasLimit)) };
    case 'too_large':
      return { ...known, tokens: Math.max(1, Math.floor(sent.tokens / 2)) };
    case 'type':
      return { ...known, isLegacy: true };
    case 'tip_too_low':
      return refusal.bound === undefined ? known : { ...known, tip: refusal.bound };
    default:
      return known;
  }
}

const least = (known: bigint | undefined, found: bigint): bigint =>
  known !== undefined && known < found ? known : found;

/** The limits that hold still. */
export const currentLimits = (limits: NodeLimits, now: number): NodeLimits =>
  limits.until !== undefined && now < limits.until ? limits : {};

/**
 * The present fees as the nodes take them: with their least priority fee, and of a type that they know.
 * @returns undefined when the present price is above the cap
 */
export function quoteFor(market: Market, cap: bigint, { tip, isLegacy }: NodeLimits): Fees | undefined {
  const { baseFee } = market;
  const asked = tip === undefined || tip <= market.suggested ? market : { ...market, suggested: tip };
  if (!isLegacy || baseFee === null) return quote(asked, cap);
  // The whole of a gas price is paid: it leaves room for one block only.
  return quote({ baseFee: null, suggested: baseFee + baseFee / 8n + asked.suggested }, cap);
}
