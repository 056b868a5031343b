import type { InputError } from '../contract/problem.ts';
import { problem } from '../errors.ts';
import type { EventFields } from './event.ts';
import type { EventChanges } from './event-fields.ts';

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
  return faults;
}

type Discount = Pick<EventFields, 'price' | 'discountPrice' | 'discountPercentage'>;

/**
 * Checks that a new event tells of one discount. A change may leave the three apart, since each may be sent alone.
 */
export function discountFaults(event: Discount): InputError[] {
  if (isOneDiscount(event)) return [];
  const message = 'discountPercentage must agree with price and discountPrice to one percent';
  return [{ in: 'body', pointer: '/discountPercentage', message }];
}

/** To a percent: prices are rounded to coins, percentages to whole ones. One above the price is a fault of its own. */
function isOneDiscount({ price, discountPrice, discountPercentage }: Discount): boolean {
  if (price === null || discountPrice === null || discountPercentage === null) return true;
  if (price === 0 || discountPrice > price) return true;
  return Math.abs((1 - discountPrice / price) * 100 - discountPercentage) <= 1;
}

/**
 * Refuses a change with faults, or with a network that is not registered.
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

/** @throws ProblemError `input_invalid` when there are faults; the first one is its detail */
export function refuseFaults(faults: readonly InputError[]): void {
  const [first] = faults;
  if (first !== undefined) throw problem('input_invalid', {}, { detail: first.message, errors: faults });
}

/** The problem of a body that names an unregistered network. */
export function networkNotFound(chainId: string) {
  const message = problem('network_not_found', { chainId }).message;
  return problem(
    'network_not_found',
    { chainId },
    { errors: [{ in: 'body', pointer: '/chainId', message }] },
  );
}
