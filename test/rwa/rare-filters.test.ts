import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { countRwas, listRwas, type RwaFilter, type RwaPlace } from '../../src/rwa/assets/rwa-store.ts';
import { test } from '../support/fixtures.ts';
import { addNetwork, contractAddress } from './samples.ts';

const company = 'large';
const limit = 50;

// Of 3,000 RWAs, the last few are of a type, buyable, and not claimable; before them, 1,000 that are archived.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db('companies').insert({ id: company, name: company });
  await db.raw(
    `INSERT INTO rwas (number, company_id, name, type, chain_id, contract_address, is_buyable, is_claimable, archived_at, created_at)
     SELECT n, :company, 'rwa ' || n, CASE WHEN n > 2940 THEN 'rare' ELSE 'cask' END, 31337, :contractAddress, n > 2930,
       n <= 2920, CASE WHEN n <= 1000 OR n % 4 = 0 AND n > 2900 THEN now() END,
       timestamptz '2026-01-01' + n / 3 * interval '1 microsecond'
     FROM generate_series(1, 3000) AS n`,
    { company, contractAddress },
  );
  await db.raw('VACUUM ANALYZE rwas');
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
  test.for(filters)('has what its rows say, by %s, and so does the total', async ([_, wanted], { db }) => {
    const filter = { ...wanted, includeArchived };
    const ids = await idsByRows(db, filter);
    expect(await countRwas(db, company, filter)).toBe(ids.length);
    const offset = Math.floor(ids.length * 0.9);
    let after: RwaPlace | undefined;
    for (const page of [{ offset: 0 }, 'next', { offset }] as const) {
      const start = page === 'next' ? after && { after } : page;
      if (start === undefined) continue;
      const found = await listRwas(db, company, filter, { limit, ...start });
      const from = page === 'next' ? limit : page.offset;
      expect(found.map(({ id }) => id)).toEqual(ids.slice(from, from + limit));
      after = found.at(limit - 1)?.place;
    }
  });
});
