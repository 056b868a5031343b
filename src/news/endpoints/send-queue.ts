import type { Database, Tx } from '../../contract/transaction.ts';
import type { KeyedJob } from '../../jobs/queue.ts';

/** The queue of deliveries to send again; the key of a job is the id of an endpoint. */
export const sendQueue = 'send-news';

/** The channel that is notified, with the id of an endpoint, when something is due there. */
export const sendChannel = 'tallystick_send_news';

/** Makes the sender read the due deliveries of these endpoints, in any process. */
export async function wakeSender(db: Database | Tx, endpointIds: readonly string[]): Promise<void> {
  await db.raw('SELECT pg_notify(?, id) FROM unnest(?::text[]) AS id', [sendChannel, [...endpointIds]]);
}

/** The job that begins when the next try of a delivery is due. */
export const createSendJob = (db: Database): KeyedJob => ({
  queue: sendQueue,
  handle: (endpointIds) => wakeSender(db, endpointIds),
});
