import { documentedPairs } from './documented.ts';

/** Documented (operation, status) that no test can produce yet, each with its reason. This list shrinks. */
const excused: Readonly<Record<string, string>> = {};

/** What a whole run has left out: pairs without a test, and excuses that are no longer needed. */
export function uncovered(seen: ReadonlySet<string>): string[] {
  const missing = documentedPairs.filter((pair) => !seen.has(pair) && excused[pair] === undefined);
  const stale = Object.keys(excused).filter((pair) => seen.has(pair) || !documentedPairs.includes(pair));
  return [...missing, ...stale.map((pair) => `${pair} (its excuse is stale)`)];
}
