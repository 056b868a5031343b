import { expect } from 'vitest';
import { addCompany, addNetwork, addNfts, addRwa, vaultOf } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';

const vault = vaultOf(['a']);

test.beforeEach(async ({ db }) => {
  for (const table of ['nfts', 'rwas']) await db(table).delete();
  await addNetwork(db);
  await addCompany(db, 'acme');
});

test('what one statement changes has one moment', async ({ db }) => {
  await addNfts(db, vault, await addRwa(db, 'acme'), 100);
  const changedBefore = await db('nfts').distinct('updated_at');
  await db('nfts').update({ mint_state: 'failed', mint_error: 'refused' });
  const changed = await db('nfts').distinct('updated_at');
  expect(changed).toHaveLength(1);
  expect(changed[0].updated_at.getTime()).toBeGreaterThanOrEqual(changedBefore[0].updated_at.getTime());
});

test('the time of a row goes on, also where a statement waited for another that changed it', async ({
  db,
}) => {
  const [nft] = await addNfts(db, vault, await addRwa(db, 'acme'), 1);
  const id = nft?.id ?? '';
  const fail = (reason: string) => db('nfts').where({ id }).update({ mint_error: reason });
  const first = await db.transaction();
  await first('nfts').where({ id }).forUpdate();
  const second = fail('second').then();
  await expect
    .poll(async () => {
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      return (await db.raw(waiting)).rows.length;
    })
    .toBe(1);
  const [between] = await first('nfts')
    .where({ id })
    .update({ mint_error: 'first' })
    .returning(first.raw('updated_at::text AS at'));
  await first.commit();
  await second;
  const after = await db('nfts').where({ id }).first();
  expect(after.mint_error).toBe('second');
  const { rows } = await db.raw('SELECT updated_at > ?::timestamptz AS later FROM nfts WHERE id = ?', [
    between.at,
    id,
  ]);
  expect(rows).toEqual([{ later: true }]);
});
