import type { Metrics } from '../../base/metrics.ts';
import type { Database } from '../../contract/transaction.ts';
import { nextSql } from './purge-store.ts';

/** Registers gauges of how long news wait: for their number, and for an endpoint to take them. */
export function watchNews(metrics: Metrics, { db }: { readonly db: Database }): void {
  metrics.levels({
    gauges: {
      unnumbered: {
        name: 'tallystick_news_unnumbered_seconds',
        help: 'Age of the oldest news without a number; 0 without any.',
        labels: [],
      },
      undelivered: {
        name: 'tallystick_news_undelivered_seconds',
        help: 'Age of the oldest news that an enabled endpoint has not taken, without endpoints that fail while others take theirs; 0 without any.',
        labels: [],
      },
    },
    sources: () => [
      {
        name: 'news',
        async read() {
          const [unnumbered, undelivered] = await Promise.all([
            ageOf(db, unnumberedSql),
            ageOf(db, undeliveredSql),
          ]);
          return {
            unnumbered: [{ labels: {}, value: unnumbered }],
            undelivered: [{ labels: {}, value: undelivered }],
          };
        },
      },
    ],
  });
}

const unnumberedSql = 'SELECT created_at AS at FROM news WHERE position IS NULL ORDER BY seq LIMIT 1';
// A partner's receiver that is down is not the operator's to fix. Where all fail, the cause may be here.
const undeliveredSql = `
  SELECT min(n.created_at) AS at FROM news_endpoints e JOIN news n ON n.company_id = e.company_id AND n.position = ${nextSql}
  WHERE e.disabled_reason IS NULL AND (e.failing_since IS NULL OR NOT EXISTS (
    SELECT FROM news_endpoints WHERE disabled_reason IS NULL AND failing_since IS NULL))`;

async function ageOf(db: Database, sql: string): Promise<number> {
  const { rows }: { rows: { seconds: number | null }[] } = await db.raw(
    `SELECT extract(epoch FROM clock_timestamp() - at)::float8 AS seconds FROM (${sql}) oldest`,
  );
  return Math.max(0, rows[0]?.seconds ?? 0);
}
