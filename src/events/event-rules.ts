import { inputInvalid, ProblemError, problem } from '../base/errors.ts';
import type { InputError } from '../base/problem.ts';
import { mostTokens } from '../chain/holdings/token-holding.ts';
import { networkNotFound } from '../chain/networks.ts';
import { decimalsOf } from './currencies.ts';
import { digitsAt, toDecimal } from './eligibility/decimal.ts';
import type { EventFields } from './event.ts';
import type { EventChanges } from './event-fields.ts';

/** Returns what the company has. @throws ProblemError `event_not_found` when it has no such event */
export function existing<T>(found: T | undefined): T {
  if (found === undefined) throw problem('event_not_found');
  return found;
}

/** Returns a problem with the field of the body that it is about. */
export const atField = ({ code, message }: ProblemError, pointer: string): ProblemError =>
  new ProblemError(code, message, { errors: [{ in: 'body', pointer, message }] });

/** The part of the network registry that the rules need. */
export type Networks = { find(chainId: string): Promise<unknown> };

/**
 * Checks the rules between fields. The contract has the bounds of single fields (prices not negative, percentage
 * 0 to 100).
 * @param merged the event after the change
 * @param sent the change; a fault points to a field of it
 */
export function ruleFaults(merged: EventFields, sent: EventChanges): InputError[] {
  const faults: InputError[] = [];
  const fault = (pointer: string, message: string) => faults.push({ in: 'body', pointer, message });
  const { startDate, endDate, price, discountPrice } = merged;

  if (startDate !== null && endDate !== null && endDate < startDate) {
    if (sent.endDate !== undefined) fault('/endDate', 'endDate must not be before startDate');
    else fault('/startDate', 'startDate must not be after endDate');
  }
  if (price !== null && discountPrice !== null && discountPrice > price) {
    if (sent.discountPrice !== undefined) fault('/discountPrice', 'discountPrice must not be above price');
    else fault('/price', 'price must not be below discountPrice');
  }
  if (merged.oneAdmissionPerToken && BigInt(merged.minimumBalance) > BigInt(mostTokens)) {
    const message = `minimumBalance must be at most ${mostTokens} with oneAdmissionPerToken: nobody could enter`;
    // An event that was stored so can still be changed otherwise.
    if (sent.minimumBalance !== undefined) fault('/minimumBalance', message);
    else if (sent.oneAdmissionPerToken !== undefined) fault('/oneAdmissionPerToken', message);
  }
  return faults;
}

type Discount = Pick<EventFields, 'price' | 'currency' | 'discountPrice' | 'discountPercentage'>;

/**
 * Checks that price, discounted price and percentage of a new event agree. A change may leave the three apart, since
 * each may be sent alone.
 */
export function discountFaults(event: Discount): InputError[] {
  if (isOneDiscount(event)) return [];
  const message =
    'discountPercentage must agree with price and discountPrice to one percent, or to the smallest unit of currency';
  return [{ in: 'body', pointer: '/discountPercentage', message }];
}

/**
 * Whether the three agree to a percent, as whole percentages do, or to one smallest unit of the currency, as rounded
 * prices do. A discounted price above the price is a fault of its own.
 */
function isOneDiscount({ price, currency, discountPrice, discountPercentage }: Discount): boolean {
  if (price === null || discountPrice === null || discountPercentage === null) return true;
  if (discountPrice > price) return true;
  const amounts = [toDecimal(price), toDecimal(discountPrice)] as const;
  const percentage = toDecimal(discountPercentage);
  const decimals = decimalsOf(currency);
  const scale = Math.max(amounts[0].scale, amounts[1].scale, decimals ?? 0);
  const [full, reduced] = [digitsAt(amounts[0], scale), digitsAt(amounts[1], scale)];
  const percent = 10n ** BigInt(percentage.scale);
  const whole = 100n * percent;
  // The distance from the exact price, and what it is compared with, are multiplied by `whole`: nothing is divided.
  const difference = reduced * whole - full * (whole - percentage.digits);
  const distance = difference < 0n ? -difference : difference;
  if (distance <= full * percent) return true;
  return decimals !== undefined && distance < 10n ** BigInt(scale - decimals) * whole;
}

/**
 * Rejects a change with faults, or with a network that is not registered.
 * @param faults those found so far; an unregistered network is listed after them
 * @throws ProblemError about the first fault, with all faults in its `errors`
 */
export async function refuseInput(
  faults: readonly InputError[],
  chainId: string | null | undefined,
  networks: Networks,
): Promise<void> {
  const known = typeof chainId !== 'string' || (await networks.find(chainId)) !== undefined;
  if (known) return refuseFaults(faults);
  const unknown = networkNotFound(chainId);
  if (faults.length === 0) throw unknown;
  refuseFaults([...faults, ...unknown.errors]);
}

/** @throws ProblemError `input_invalid` when there are faults; the first fault is its detail */
export function refuseFaults(faults: readonly InputError[]): void {
  if (faults.length > 0) throw inputInvalid(faults);
}
