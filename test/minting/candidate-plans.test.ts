import { expect } from 'vitest';
import { lockCandidates } from '../../src/rwa/minting/accept/eligibility-store.ts';
import { addCompany, addManyNfts, addNetwork, addRwa } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { planOf, statementsOf } from '../support/statements.ts';

// The planner knows nothing of these rows, as of those that came since the table was last analysed.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'large');
  await addRwa(db, 'large');
  await addManyNfts(db, 20_000);
});

test('NFTs to be minted are found by their ids, however many the company has', async ({ db }) => {
  const ids = (await db('nfts').whereRaw('serial % 200 = 7 AND serial <= 6400').orderBy('id')).map(
    ({ id }) => id,
  );
  const sent = await statementsOf(db, () =>
    db.transaction(async (tx) => {
      expect([...(await lockCandidates(tx, 'large', ids)).keys()]).toEqual(ids);
    }),
  );
  const reads = sent.filter(({ sql }) => /nfts n/.test(sql));
  expect(reads).toHaveLength(1);
  for (const statement of reads) {
    const plan = await planOf(db, statement);
    expect(plan).toMatch(/on nfts n/);
    expect(plan).not.toMatch(/Index Cond: .*company_id = 'large'|Seq Scan on nfts/);
  }
});
