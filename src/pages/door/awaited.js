/* Scans whose answers a guest waits for. */

/** @returns `{ wait, settle, giveUp }` */
export function createAwaited() {
  const ends = new Map();
  return {
    /** @returns the scan when it was answered; undefined when that takes too long */
    wait(scanId, ms) {
      return new Promise((resolve) => {
        const end = (scan) => {
          clearTimeout(timer);
          ends.delete(scanId);
          resolve(scan);
        };
        const timer = setTimeout(end, ms);
        ends.set(scanId, end);
      });
    },

    /** Hands over a scan that was answered. @returns whether anybody waited for it */
    settle(scan) {
      const end = ends.get(scan.scanId);
      if (end !== undefined) end(scan);
      return end !== undefined;
    },

    /** Ends all waiting: no answer comes at present. */
    giveUp() {
      for (const end of [...ends.values()]) end(undefined);
    },
  };
}
