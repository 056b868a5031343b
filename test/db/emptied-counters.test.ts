import { expect } from 'vitest';
import { foldCounts } from '../../src/db/list-folds-store.ts';
import { test } from '../support/fixtures.ts';
import { planOf, statementsOf } from '../support/statements.ts';

const many = 1_000;

test('counters that become empty are not held against all that is left to be folded', async ({ db }) => {
  await db.raw(
    `INSERT INTO events (company_id, name, start_date)
     SELECT 'mover', n, timestamptz '1900-01-01' + n * interval '13 days' FROM generate_series(1, ?) AS n`,
    [many],
  );
  while ((await foldCounts(db)) > 0);
  for (let round = 0; round < 4; round += 1)
    await db.raw("UPDATE events SET start_date = start_date + interval '99 years 3 days'");
  await db.raw('VACUUM ANALYZE list_changes, list_counts');

  const statements = await statementsOf(db, () => foldCounts(db, many));
  const [drop] = statements.filter(({ sql }) => /^\s*DELETE FROM list_counts/.test(sql));
  if (drop === undefined) throw new Error('nothing was emptied');
  const plan = await planOf(db, drop);
  expect(plan).toMatch(/Index (Only )?Scan using list_changes_of_place on list_changes/);
  expect(plan).toMatch(/Index Cond: .*place >= /);
  expect(plan).toMatch(/Index Scan using list_counts_pkey on list_counts/);
  expect(plan).not.toMatch(/Seq Scan|Join Filter/);

  while ((await foldCounts(db)) > 0);
  const counted = db('list_counts').where({ company_id: 'mover', list: 'event_starts' });
  expect(await counted.clone().where({ count: 0 })).toEqual([]);
  expect(await counted.where({ shift: 0 }).sum('count')).toEqual([{ sum: String(many) }]);
});
