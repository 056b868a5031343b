import type { Logger } from '../../base/log.ts';

export type OutageLog = {
  /** A connection was lost, or none was to be had. */
  failed(reason: unknown): void;
  opened(): void;
};

// One connection may be lost while the others go on, so that none is opened for long. What fails then is another outage.
const quietMs = 60_000;

/** Logs an outage when it begins and when it is over, with the number of failures between: there are hundreds a second. */
export function createOutageLog(log: Logger, now: () => number = () => performance.now()): OutageLog {
  let failures = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    failed(reason) {
      const isAnother = now() - lastAt > quietMs;
      lastAt = now();
      failures += 1;
      if (failures > 1 && !isAnother) return;
      // Its stack comes from a socket, and says nothing.
      const message = reason instanceof Error ? reason.message : String(reason);
      log.warn({ reason: message.split('\n', 1)[0] }, 'database connections fail');
    },
    opened() {
      if (failures > 0) log.info({ failures }, 'database connections are to be had again');
      failures = 0;
    },
  };
}
