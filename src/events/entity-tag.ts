import { hash } from 'node:crypto';
import type { EventRecord } from './event.ts';

/**
 * The strong entity tag of an event. It changes with the representation (RFC 9110, 8.8.1), so also with
 * `totalAttendees`.
 */
export function entityTag({ id, version, totalAttendees }: EventRecord): string {
  const digest = hash('sha256', `${id} ${version} ${totalAttendees}`, 'base64url');
  return `"${digest.slice(0, 22)}"`;
}

/**
 * Whether an `If-Match` header allows a change to the resource with this tag, by strong comparison: a weak tag never
 * matches, `*` always does. A header that is not a list of tags allows nothing, which is the safe interpretation.
 */
export function allowsChange(ifMatch: string | undefined, tag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return Array.from(ifMatch.matchAll(/(?:W\/)?"[^"]*"/g), ([candidate]) => candidate).includes(tag);
}

/**
 * Whether an `If-Match` header has a tag that a proxy weakened: `W/"…"`, or a tag of ours with a suffix such as `-gzip`.
 */
export function isWeakened(ifMatch = ''): boolean {
  return /W\/"[^"]*"|"[\w-]{22}[^\w"][^"]*"/.test(ifMatch);
}
