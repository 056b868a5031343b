/**
 * Remembers values by name for some time.
 * @param most values at most; the oldest go first
 */
export function createRecent(most: number, keptMs: number) {
  const found = new Map<string, { readonly value: string; readonly until: number }>();
  return {
    of(name: string): string | undefined {
      const last = found.get(name);
      return last !== undefined && last.until > performance.now() ? last.value : undefined;
    },
    note(name: string, value: string): void {
      const now = performance.now();
      found.delete(name);
      // Those that were noted first are the first, so nothing stays for longer than it is good.
      for (const [old, { until }] of found) {
        if (until > now && found.size < most) break;
        found.delete(old);
      }
      found.set(name, { value, until: now + keptMs });
    },
    forget: (name: string) => found.delete(name),
    clear: () => found.clear(),
  };
}
