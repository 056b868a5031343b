import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { newsChannel } from './news.ts';

/*
 * Numbers committed news, densely for each company. `seq` is the order of writing. A row that commits late is seen by a later
 * run and gets a later number, so none is skipped, and a long transaction delays nobody else.
 */
const numberSql = `
  WITH batch AS (
    SELECT seq, subject, company_id, row_number() OVER (PARTITION BY company_id ORDER BY seq DESC) - 1 AS later
    FROM (SELECT seq, subject, company_id FROM news WHERE position IS NULL ORDER BY seq LIMIT :limit) n
  ), feeds AS (
    INSERT INTO news_feeds (company_id, last_position)
    SELECT company_id, count(*) FROM batch GROUP BY company_id ORDER BY company_id
    ON CONFLICT (company_id) DO UPDATE SET last_position = news_feeds.last_position + excluded.last_position
    RETURNING company_id, last_position
  ), numbered AS (
    UPDATE news n SET position = f.last_position - b.later FROM batch b JOIN feeds f USING (company_id)
    WHERE n.subject = b.subject AND n.seq = b.seq RETURNING n.company_id
  )
  SELECT company_id AS "companyId", count(*)::int AS count FROM numbered GROUP BY company_id`;

/**
 * Numbers news that have none, and wakes the readers who wait for them.
 * @returns how many; fewer than `limit` when none is left
 */
export function numberNews(db: Database, limit: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    // Two processes that both believe to have the lease would count one batch twice.
    await tx.raw("SELECT pg_advisory_xact_lock(hashtextextended('news sequencer', 0))");
    const { rows }: { rows: { companyId: string; count: number }[] } = await tx.raw(numberSql, { limit });
    if (rows.length === 0) return 0;
    const companies = rows.map(({ companyId }) => companyId);
    await tx.raw('SELECT pg_notify(?, id) FROM unnest(?::text[]) AS id', [newsChannel, companies]);
    return rows.reduce((sum, { count }) => sum + count, 0);
  });
}
