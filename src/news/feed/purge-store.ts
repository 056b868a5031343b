import type { Database } from '../../contract/transaction.ts';
import type { Purge } from '../../db/records/housekeeping.ts';

/** The number of the oldest news that endpoint `e` has not got; that of the next in its feed where it has all. */
export const nextSql = `coalesce(
  (SELECT d.position FROM news_deliveries d WHERE d.endpoint_id = e.id AND NOT d.delivered ORDER BY d.position LIMIT 1),
  e.position + 1)`;

/**
 * What deletes news that are older than so many days, and the deliveries of news that are gone. What an enabled endpoint has not got
 * is kept, with all later news of its company.
 */
export const createNewsPurges = (days: number): readonly Purge[] => [
  (db, limit) => purgeNews(db, days, limit),
  purgeDeliveries,
];

/** Deletes the oldest news of each feed, in their order, so that a feed has no gap. */
async function purgeNews(db: Database, days: number, limit: number): Promise<number> {
  const { rowCount }: { rowCount: number } = await db.raw(
    `DELETE FROM news n USING (
       SELECT o.subject, o.seq FROM news_feeds f CROSS JOIN LATERAL (
         SELECT min(${nextSql}) AS position FROM news_endpoints e
         WHERE e.company_id = f.company_id AND e.disabled_reason IS NULL) next CROSS JOIN LATERAL (
         SELECT subject, seq, created_at FROM news WHERE company_id = f.company_id AND position IS NOT NULL
           AND position < coalesce(next.position, f.last_position + 1)
         ORDER BY position LIMIT :limit) o
       WHERE o.created_at < now() - make_interval(days => :days) LIMIT :limit) old
     WHERE n.subject = old.subject AND n.seq = old.seq`,
    { days, limit },
  );
  return rowCount;
}

/** A disabled endpoint loses its place with a delivery that it never got, so that enabling it is rejected. */
async function purgeDeliveries(db: Database, limit: number): Promise<number> {
  const { rows }: { rows: [{ count: number }] } = await db.raw(
    `WITH gone AS (
       DELETE FROM news_deliveries d USING (
         SELECT o.endpoint_id, o.position FROM news_endpoints e CROSS JOIN LATERAL (
           SELECT endpoint_id, position FROM news_deliveries WHERE endpoint_id = e.id AND position < coalesce(
             (SELECT position FROM news WHERE company_id = e.company_id AND position IS NOT NULL ORDER BY position LIMIT 1),
             (SELECT last_position + 1 FROM news_feeds WHERE company_id = e.company_id))
           ORDER BY position LIMIT :limit) o LIMIT :limit) old
       WHERE d.endpoint_id = old.endpoint_id AND d.position = old.position
       RETURNING d.endpoint_id, d.position, d.delivered
     ), behind AS (
       UPDATE news_endpoints e SET position = lost.position - 1 FROM (
         SELECT endpoint_id, min(position) AS position FROM gone WHERE NOT delivered GROUP BY endpoint_id) lost
       WHERE e.id = lost.endpoint_id AND e.disabled_reason IS NOT NULL AND e.position >= lost.position
     )
     SELECT count(*)::int AS count FROM gone`,
    { limit },
  );
  return rows[0].count;
}
