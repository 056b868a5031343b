import { createHash } from 'node:crypto';
import type { EventRecord } from './event.ts';

/**
 * The strong entity tag of an event. It changes whenever a reader would see something else (RFC 9110, 8.8.1),
 * so also when `totalAttendees` does.
 */
export function entityTag({ id, version, totalAttendees }: EventRecord): string {
  const seen = createHash('sha256').update(`${id} ${version} ${totalAttendees}`).digest('base64url');
  return `"${seen.slice(0, 22)}"`;
}

/**
 * Whether an `If-Match` allows a change of the resource with this tag, by strong comparison: a weak tag never
 * does, `*` always does. Text that is no list of tags allows nothing, the safe reading of a condition.
 */
export function allowsChange(ifMatch: string | undefined, tag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return Array.from(ifMatch.matchAll(/(?:W\/)?"[^"]*"/g), ([candidate]) => candidate).includes(tag);
}
