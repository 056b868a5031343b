import { expect } from 'vitest';
import { findSecretAttempts } from '../../src/rwa/assets/secret-attempt-store.ts';
import { lockCandidates } from '../../src/rwa/minting/eligibility-store.ts';
import { addCompany, addManyNfts, addNetwork, addRwa } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { planOf, statementsOf } from '../support/statements.ts';

// The planner knows nothing of these rows, as of those that came since the table was last analysed.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'large');
  await addRwa(db, 'large');
  await addManyNfts(db, 20_000);
  await db.raw(`
    INSERT INTO secret_attempts (nft_id, wrong, window_ends_at)
    SELECT id, 1, now() + interval '1 hour' FROM nfts WHERE serial <= 5000;
  `);
});

test('NFTs to be minted are found by their ids, however many the company has', async ({ db }) => {
  const ids = (await db('nfts').whereRaw('serial % 200 = 7 AND serial <= 6400').orderBy('id')).map(
    ({ id }) => id,
  );
  const sent = await statementsOf(db, () =>
    db.transaction(async (tx) => {
      expect([...(await lockCandidates(tx, 'large', ids)).keys()]).toEqual(ids);
      expect((await findSecretAttempts(tx, 'large', ids)).size).toBe(25);
      expect((await findSecretAttempts(tx, 'other', ids)).size).toBe(0);
    }),
  );
  const reads = sent.filter(({ sql }) => /nfts n/.test(sql));
  expect(reads).toHaveLength(3);
  for (const statement of reads) {
    const plan = await planOf(db, statement);
    expect(plan).toMatch(/on nfts n/);
    expect(plan).not.toMatch(/Index Cond: .*company_id = 'large'|Seq Scan on nfts/);
  }
});
