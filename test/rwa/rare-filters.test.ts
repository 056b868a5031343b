import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { foldCounts } from '../../src/db/list-folds-store.ts';
import type { RwaFilter } from '../../src/rwa/assets/rwa-ranges-store.ts';
import { listRwas, type RwaPlace } from '../../src/rwa/assets/rwa-store.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';
import { addNetwork, contractAddress } from './samples.ts';

const company = 'large';
const limit = 50;

// Of 30,000 RWAs, the last few are of a type, buyable, and not claimable; before them, 10,000 that are archived.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db('companies').insert({ id: company, name: company });
  await db.raw(
    `INSERT INTO rwas (company_id, name, type, chain_id, contract_address, is_buyable, is_claimable, archived_at, created_at)
     SELECT :company, 'rwa ' || n, CASE WHEN n > 29940 THEN 'rare' ELSE 'cask' END, 31337, :contractAddress, n > 29930,
       n <= 29920, CASE WHEN n <= 10000 OR n % 4 = 0 AND n > 29900 THEN now() END,
       timestamptz '2026-01-01' + n / 3 * interval '1 microsecond'
     FROM generate_series(1, 30000) AS n`,
    { company, contractAddress },
  );
  while ((await foldCounts(db)) > 0);
  await db.raw('VACUUM ANALYZE rwas, list_counts, list_changes');
});

/** What the list has by its rows alone. */
function idsByRows(db: Database, { includeArchived, type, isBuyable, isClaimable }: RwaFilter) {
  const query = db('rwas').where('company_id', company).orderBy(['created_at', 'id']);
  if (!includeArchived) query.whereNull('archived_at');
  if (type !== undefined) query.where({ type });
  if (isBuyable !== undefined) query.where({ is_buyable: isBuyable });
  if (isClaimable !== undefined) query.where({ is_claimable: isClaimable });
  return query.pluck('id');
}

const filters: readonly [string, RwaFilter][] = [
  ['nothing', {}],
  ['a type', { type: 'rare' }],
  ['a frequent type', { type: 'cask' }],
  ['buyable', { isBuyable: true }],
  ['not claimable', { isClaimable: false }],
  ['buyable of a type', { type: 'cask', isBuyable: true }],
  ['what there is none of', { type: 'rare', isBuyable: false, isClaimable: true }],
];

describe.for([false, true])('a page of RWAs with archived ones: %s', (includeArchived) => {
  test.for(filters)('reads few rows by %s, whatever lies before', async ([_, wanted], { db }) => {
    const filter = { ...wanted, includeArchived };
    const ids = await idsByRows(db, filter);
    const offset = Math.floor(ids.length * 0.9);
    let after: RwaPlace | undefined;
    for (const page of [{ offset: 0 }, 'next', { offset }] as const) {
      const start = page === 'next' ? after && { after } : page;
      if (start === undefined) continue;
      const list = () => listRwas(db, company, filter, { limit, ...start });
      const found = await list();
      const from = page === 'next' ? limit : page.offset;
      expect(found.map(({ id }) => id)).toEqual(ids.slice(from, from + limit));
      if (page !== 'next' && page.offset > 0) continue;
      expect(await rowsReadBy(db, 'rwas', list)).toBeLessThanOrEqual(3 * limit);
      after = found.at(limit - 1)?.place;
    }
  });
});
