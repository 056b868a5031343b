import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';

export type Notifier = {
  /** Tells everyone who listens, soon. Calls that come while one is being told are told together. */
  notify(): void;
};

/**
 * Notifies a channel outside of transactions: commits of transactions that notify wait for each other, disk
 * included. What is told may get lost with the process, so listeners also look by themselves.
 */
export function createNotifier(db: Database, channel: string, log: Logger): Notifier {
  let isTelling = false;
  let isAsked = false;
  const tell = async () => {
    isTelling = true;
    while (isAsked) {
      isAsked = false;
      await db
        .raw('SELECT pg_notify(?, ?)', [channel, ''])
        .catch((err: unknown) => log.debug({ err, channel }, 'not notified'));
    }
    isTelling = false;
  };
  return {
    notify() {
      isAsked = true;
      if (!isTelling) void tell();
    },
  };
}
