import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { type CountedRows, countRows, findOffset } from '../../src/db/list-counts-store.ts';
import { test } from '../support/fixtures.ts';
import { statementsOf } from '../support/statements.ts';

const companyId = 'large';

// Most of 120,000 counters are of one company, most of these of one list, and a third of a list is of one facet: by such
// samples the planner takes all of them for wanted.
test.beforeAll(async ({ db }) => {
  await db.raw(
    `INSERT INTO list_counts (company_id, list, shift, bucket, facet, count)
     SELECT ?, list, shift, n, facet, 1
     FROM (VALUES ('rwas', 0, 30000), ('rwas', 8, 2000), ('rwas', 24, 2), ('nfts', 0, 5000), ('nfts', 8, 4000),
         ('nfts', 32, 4000), ('nfts', 40, 16), ('nfts', 48, 2)) AS l (list, shift, buckets),
       LATERAL unnest(CASE list WHEN 'rwas' THEN '{00,01,11}'::text[] ELSE '{minted,unclaimed,queued}' END) AS f (facet),
       LATERAL generate_series(1, buckets) AS n`,
    [companyId],
  );
  await db.raw('VACUUM ANALYZE list_counts, list_changes');
});

/** The plans of what the work sends: with its values, and for any. */
async function plansOf(db: Database, work: () => Promise<unknown>): Promise<string[]> {
  const sent = await statementsOf(db, work);
  expect(sent).toHaveLength(1);
  const [{ sql, bindings } = { sql: '', bindings: [] }] = sent;
  const types = ['text', 'text', 'text[]', 'bigint', 'bigint'];
  const others =
    bindings.length === 7 ? ['bigint', 'int[]'] : ['smallint[]', 'bigint[]', 'bigint[]', 'text', 'bigint'];
  return db.transaction(async (tx) => {
    await tx.raw(`PREPARE counters (${[...types, ...others].join()}) AS ${sql.replaceAll('?', '\\?')}`);
    const values = bindings.map((value) => (Array.isArray(value) ? `{${value.join()}}` : value));
    const marks = values.map(() => '?').join();
    const plans = [];
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await tx.raw(`SET LOCAL plan_cache_mode = ${mode}`);
      const filled = tx.raw(`EXECUTE counters (${marks})`, values as string[]).toQuery();
      const { rows } = await tx.raw(`EXPLAIN ${filled.replaceAll('?', '\\?')}`);
      plans.push(rows.map((row: { 'QUERY PLAN': string }) => row['QUERY PLAN']).join('\n'));
    }
    await tx.raw('DEALLOCATE counters');
    return plans;
  });
}

/** Each of its readings of counters is of the range of the index that a stretch is. */
function expectRanges(plan: string): void {
  const lines = plan.split('\n');
  const readings = lines.flatMap((line, index) =>
    /\bon list_counts/.test(line) ? [`${line.trim()} ${lines[index + 1]?.trim()}`] : [],
  );
  expect(readings.length).toBeGreaterThan(0);
  for (const reading of readings)
    expect(reading).toMatch(
      /^(-> +)?Index (Only )?Scan using list_counts_pkey .*Index Cond: .*bucket >= .*bucket <= /,
    );
}

const lists: [string, CountedRows][] = [
  ['NFTs of one state', { companyId, list: 'nfts', facets: ['minted'] }],
  ['NFTs of some states', { companyId, list: 'nfts', facets: ['minted', 'unclaimed', 'queued'] }],
  ['RWAs of one kind', { companyId, list: 'rwas', facets: ['01'] }],
  ['RWAs of some kinds', { companyId, list: 'rwas', facets: ['00', '01', '11'] }],
];

describe('the counters of a large company are read by ranges, whatever was sampled of them', () => {
  test.for(lists)('for the total of %s', async ([_, rows], { db }) => {
    for (const plan of await plansOf(db, () => countRows(db, rows))) {
      expectRanges(plan);
      // What is pending is added up as it is read.
      expect(plan.match(/\bon list_changes/g)).toHaveLength(1);
      expect(plan).not.toContain('CTE Scan');
    }
  });

  test.for(lists)('for an offset of %s', async ([_, rows], { db }) => {
    for (const plan of await plansOf(db, () => findOffset(db, rows, 1_000))) expectRanges(plan);
  });
});
