import type { Database, Tx } from '../../contract/transaction.ts';
import type { Delivery } from './endpoint.ts';
import { wakeSender } from './send-queue.ts';

const columns = `d.position::float8 AS position, n.id AS "newsId", n.type, d.delivered, d.attempts, d.status, d.error, d.answer,
  d.attempted_at AS "attemptedAt", d.next_attempt_at AS "nextAttemptAt"`;
const joined = `JOIN news_endpoints e ON e.id = d.endpoint_id JOIN news n ON n.company_id = e.company_id AND n.position = d.position`;

/** The deliveries to an endpoint, the newest news first. @param before only deliveries of earlier news */
export async function listDeliveries(
  db: Database,
  endpointId: string,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<Delivery[]> {
  const { rows } = await db.raw(
    `SELECT ${columns} FROM news_deliveries d ${joined}
     WHERE d.endpoint_id = ? AND d.position < coalesce(?::bigint, 9223372036854775807) ORDER BY d.position DESC LIMIT ?`,
    [endpointId, before ?? null, limit] as never, // knex binds null, which its types do not know
  );
  return rows;
}

/** Makes a delivery due again, as if it had not been tried. @returns undefined when there is no such delivery */
export async function resendDelivery(
  tx: Tx,
  endpointId: string,
  position: number,
): Promise<Delivery | undefined> {
  const { rows } = await tx.raw(
    `WITH d AS (
       UPDATE news_deliveries SET delivered = false, attempts = 0, next_attempt_at = clock_timestamp()
       WHERE endpoint_id = ? AND position = ? RETURNING *)
     SELECT ${columns} FROM d ${joined}`,
    [endpointId, position],
  );
  await wakeSender(tx, [endpointId]);
  return rows[0];
}
