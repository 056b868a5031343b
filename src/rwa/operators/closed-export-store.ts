import type { Database } from '../../contract/transaction.ts';

/** RWAs by their ids, at most some, and how many there are. */
export type ClosedExports = { readonly count: number; readonly ids: readonly string[] };

/**
 * Finds RWAs whose claim codes were exported and lead to the claim page of this service, which is off for them: RWAs that are not
 * archived, without a claim page of their own or of their company. The audit log knows what was exported.
 * @param most ids that are named
 */
export async function findClosedExports(db: Database, most: number): Promise<ClosedExports> {
  const { rows }: { rows: { id: string; count: number }[] } = await db.raw(
    `SELECT r.id, (count(*) OVER ())::int AS count FROM rwas r JOIN companies c ON c.id = r.company_id
     WHERE NOT r.claim_page AND r.archived_at IS NULL AND r.claim_base_url IS NULL AND c.claim_base_url IS NULL
       AND r.claimed_nfts < r.total_nfts
       AND r.id::text IN (SELECT subject FROM audit_log WHERE action = 'rwa.export')
     ORDER BY r.number LIMIT ?`,
    [most],
  );
  return { count: rows[0]?.count ?? 0, ids: rows.map(({ id }) => id) };
}
