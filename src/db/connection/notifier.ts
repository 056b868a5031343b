import type { Logger } from '../../base/log.ts';
import { inBackground } from '../../base/request-scope.ts';
import type { Database } from '../../contract/transaction.ts';

export type Notifier = {
  /**
   * Sends a notification soon. Calls made while one is being sent lead to a single further notification.
   * @param causes each a `traceparent`, which listeners get with {@link causesOf}
   */
  notify(causes?: readonly string[]): void;
};

// A payload has 8,000 bytes at most, and a traceparent 55.
const mostCauses = 100;

/** The causes that a notification names. Notifications of older releases name none. */
export const causesOf = (payload: string): readonly string[] =>
  payload.split(' ').filter((cause) => cause !== '');

/**
 * Notifies a channel outside of transactions, because PostgreSQL serialises the commits of transactions that notify,
 * their disk flush included. A notification can be lost with the process, so listeners must poll as well.
 */
export function createNotifier(db: Database, channel: string, log: Logger): Notifier {
  let isSending = false;
  let isPending = false;
  let pendingCauses: string[] = [];
  const sendPending = async () => {
    isSending = true;
    while (isPending) {
      isPending = false;
      const payload = pendingCauses.join(' ');
      pendingCauses = [];
      await db
        .raw('SELECT pg_notify(?, ?)', [channel, payload])
        .catch((err: unknown) => log.debug({ err, channel }, 'not notified'));
    }
    isSending = false;
  };
  return {
    notify(causes = []) {
      isPending = true;
      pendingCauses = [...pendingCauses, ...causes].slice(0, mostCauses);
      if (!isSending) void inBackground(sendPending);
    },
  };
}
