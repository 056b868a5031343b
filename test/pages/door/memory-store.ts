import type { Scan } from './door-modules.ts';

export type StoredEvent = {
  readonly eventId: string;
  readonly revokedCursor: string;
  readonly skewMs?: number;
  readonly openedAt?: number;
  readonly refusal?: { readonly keyDigest: string; readonly code: string } | undefined;
};

/** What the page stores, in memory: Node has no IndexedDB. The tests in Chromium run the store itself. */
export function createMemoryStore() {
  const events = new Map<string, StoredEvent>();
  const revoked = new Set<string>();
  const scans = new Map<string, Scan>();
  const newestFirst = (found: Scan[]) => found.sort((a, b) => b.at.localeCompare(a.at));
  const waiting = (eventId: string) =>
    newestFirst([...scans.values()].filter((scan) => scan.eventId === eventId && scan.waits === 1));

  return {
    scans,
    readEvent: async (eventId: string) => events.get(eventId),
    changeEvent: async (eventId: string, changes: Partial<StoredEvent>) => {
      const event = { ...(events.get(eventId) ?? { eventId, revokedCursor: '' }), ...changes };
      events.set(eventId, event);
      return event;
    },
    addRevoked: async (eventId: string, ticketIds: readonly string[], revokedCursor: string) => {
      for (const ticketId of ticketIds) revoked.add(`${eventId} ${ticketId}`);
      const event = events.get(eventId) ?? { eventId, revokedCursor };
      events.set(eventId, { ...event, revokedCursor });
    },
    isRevoked: async (eventId: string, ticketId: string) => revoked.has(`${eventId} ${ticketId}`),
    addScan: async (made: Scan, decide: (earlier: Scan[]) => object = () => ({})) => {
      const earlier = [...scans.values()].filter(
        ({ eventId, attendeeId }) => eventId === made.eventId && attendeeId === made.attendeeId,
      );
      const scan = { ...made, ...decide(earlier) };
      scans.set(scan.scanId, scan);
      return scan;
    },
    changeScans: async (changes: readonly (readonly [string, Partial<Scan>])[]) =>
      changes.map(([scanId, change]) => {
        const scan = { ...scans.get(scanId), ...change } as Scan;
        scans.set(scanId, scan);
        return scan;
      }),
    countWaiting: async (eventId: string) => waiting(eventId).length,
    countRefused: async (eventId: string) =>
      [...scans.values()].filter((scan) => scan.eventId === eventId && scan.refused !== undefined).length,
    listWaiting: async (eventId: string, most = Number.POSITIVE_INFINITY) => waiting(eventId).slice(0, most),
  };
}

export type MemoryStore = ReturnType<typeof createMemoryStore>;
