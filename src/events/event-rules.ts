import type { InputError } from '../contract/problem.ts';
import { problem } from '../errors.ts';
import type { EventFields } from './event.ts';
import type { EventChanges } from './event-fields.ts';

/** All that the rules need of the network registry. */
export type Networks = { find(chainId: string): Promise<unknown> };

/**
 * The rules between fields, on the event as it is after a change. Bounds of a single field (prices not
 * negative, percentage 0 to 100) stand in the contract. A fault names a field that was sent.
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

/** Refuses a change with faults, or to a network that is not registered, which comes last of all faults. */
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

/** Refuses input with faults; the first one is the detail. */
export function refuseFaults(faults: readonly InputError[]): void {
  const [first] = faults;
  if (first !== undefined) throw problem('input_invalid', {}, { detail: first.message, errors: faults });
}

/** The problem of a body whose network is not registered. */
export function networkNotFound(chainId: string) {
  const message = problem('network_not_found', { chainId }).message;
  return problem(
    'network_not_found',
    { chainId },
    { errors: [{ in: 'body', pointer: '/chainId', message }] },
  );
}
