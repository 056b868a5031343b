import type { z } from 'zod';
import { type OnRepair, withRepairs } from './repairs.ts';
import { UpstreamFault } from './upstream-fault.ts';

const maxFaults = 5;

/**
 * Parses an answer of the upstream with a schema.
 * @throws UpstreamFault that names the first places that do not match, without their values
 */
export function readUpstreamAnswer<T extends z.ZodType>(
  schema: T,
  answer: unknown,
  onRepair: OnRepair = () => {},
): z.output<T> {
  const parsed = withRepairs(onRepair, () => schema.safeParse(answer));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues
    .slice(0, maxFaults)
    .map(({ path, message }) => `${path.join('.') || 'the answer'}: ${message}`);
  throw new UpstreamFault('malformed', `the answer does not fit: ${faults.join('; ')}`);
}
