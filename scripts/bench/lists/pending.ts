import type { Database } from '../../../src/contract/transaction.ts';
import { foldLock } from '../../../src/db/list-folds-store.ts';

const pairs = 25_000;

/** Does the work while a company has 100,000 changes that nobody folds. They come to nothing, and go afterwards. */
export async function withPending(db: Database, companyId: string, work: () => Promise<void>): Promise<void> {
  // Who reads would fold them.
  await db.transaction(async (tx) => {
    await tx.raw(`SELECT pg_advisory_xact_lock(${foldLock})`);
    try {
      await db.raw(
        `INSERT INTO list_changes (company_id, list, place, facet, change, latest, earliest)
         SELECT company_id, list, bucket, facet, change, latest, earliest
         FROM (SELECT DISTINCT ON (list) * FROM list_counts
               WHERE company_id = ? AND shift = 0 AND list IN ('rwas', 'events') ORDER BY list, bucket) AS first,
           generate_series(1, ?::int) AS n, (VALUES (1), (-1)) AS c (change)`,
        [companyId, pairs],
      );
      await work();
    } finally {
      await db('list_changes').where('company_id', companyId).delete();
      await db.raw('VACUUM list_changes');
    }
  });
}
