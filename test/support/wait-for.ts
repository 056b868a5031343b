import { vi } from 'vitest';

/**
 * Waits until the assertion passes, and rejects with its error after 30 s. The limit is for what never comes: the one of
 * `vi.waitFor` is a second, which is too short next to other work.
 */
export function waitFor<T>(assertion: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(assertion, { timeout: 30_000, interval: 20 });
}
