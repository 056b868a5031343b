import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';
import { inBackground } from '../request-scope.ts';

export type Notifier = {
  /** Sends a notification soon. Calls made while one is being sent lead to a single further notification. */
  notify(): void;
};

/**
 * Notifies a channel outside of transactions, because PostgreSQL serialises the commits of transactions that notify,
 * their disk flush included. A notification can be lost with the process, so listeners must poll as well.
 */
export function createNotifier(db: Database, channel: string, log: Logger): Notifier {
  let isSending = false;
  let isPending = false;
  const sendPending = async () => {
    isSending = true;
    while (isPending) {
      isPending = false;
      await db
        .raw('SELECT pg_notify(?, ?)', [channel, ''])
        .catch((err: unknown) => log.debug({ err, channel }, 'not notified'));
    }
    isSending = false;
  };
  return {
    notify() {
      isPending = true;
      if (!isSending) void inBackground(sendPending);
    },
  };
}
