/**
 * Remembers names for some time.
 * @param most names at most; the oldest go first
 */
export function createRecent(most: number, keptMs: number) {
  const ends = new Map<string, number>();
  return {
    has: (name: string): boolean => (ends.get(name) ?? 0) > performance.now(),
    note(name: string): void {
      const now = performance.now();
      ends.delete(name);
      // The oldest notes come first, so nothing stays for longer than it is good.
      for (const [old, end] of ends) {
        if (end > now && ends.size < most) break;
        ends.delete(old);
      }
      ends.set(name, now + keptMs);
    },
    forget: (name: string) => ends.delete(name),
    clear: () => ends.clear(),
  };
}
