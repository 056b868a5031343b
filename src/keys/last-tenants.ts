import { hash } from 'node:crypto';

// So long a key that asks now and then is no stranger. What is known of it may be wrong by then, so it lets nobody in.
const keptMs = 600_000;
// Of what is longer, the hash would cost more than it is worth; no key is.
const longestKey = 512;

/** Whose the keys were that were accepted in the last ten minutes, by their hashes: no key is kept in clear for so long. */
export function createLastTenants(most: number) {
  const found = new Map<string, { readonly tenant: string; readonly until: number }>();
  /** @param keyHash in hexadecimal digits */
  const ofHash = (keyHash: string): string | undefined => {
    const last = found.get(keyHash);
    return last !== undefined && last.until > performance.now() ? last.tenant : undefined;
  };
  return {
    ofHash,
    of(key: string): string | undefined {
      return found.size === 0 || key.length > longestKey ? undefined : ofHash(hash('sha256', key, 'hex'));
    },
    /** @param keyHash in hexadecimal digits */
    note(keyHash: string, tenant: string): void {
      const now = performance.now();
      found.delete(keyHash);
      // Those that were noted first are the first.
      for (const [old, { until }] of found) {
        if (until > now && found.size < most) break;
        found.delete(old);
      }
      found.set(keyHash, { tenant, until: now + keptMs });
    },
    forget: (keyHash: string) => found.delete(keyHash),
    clear: () => found.clear(),
  };
}
