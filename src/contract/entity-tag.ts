import { hash } from 'node:crypto';
import { problem } from '../base/errors.ts';

/** Returns the strong entity tag of what these values describe: equal values have equal tags (RFC 9110, 8.8.1). */
export function entityTag(...values: readonly unknown[]): string {
  const digest = hash('sha256', JSON.stringify(values), 'base64url');
  return `"${digest.slice(0, 22)}"`;
}

/**
 * Checks an `If-Match` header against the tag of the record, by strong comparison: a weak tag never matches, `*` always
 * does. A header that is not a list of tags allows nothing, which is the safe interpretation.
 * @throws ProblemError `precondition_failed`, or `etag_weakened` when a proxy changed the tag
 */
export function assertMatch(ifMatch: string | undefined, tag: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = Array.from(ifMatch.matchAll(/(?:W\/)?"[^"]*"/g), ([candidate]) => candidate);
  if (!tags.includes(tag)) throw problem(isWeakened(ifMatch) ? 'etag_weakened' : 'precondition_failed');
}

/** Whether an `If-Match` header has a tag that a proxy weakened: `W/"…"`, or a tag of ours with a suffix such as `-gzip`. */
function isWeakened(ifMatch: string): boolean {
  return /W\/"[^"]*"|"[\w-]{22}[^\w"][^"]*"/.test(ifMatch);
}
