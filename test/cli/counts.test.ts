import { expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { foldCounts } from '../../src/db/list-folds-store.ts';
import { addNetwork, contractAddress } from '../rwa/samples.ts';
import { auditedActions } from './command-line.ts';
import { test } from './fixtures.ts';

async function addRows(db: Database, name: string): Promise<void> {
  await db.raw(
    `WITH rwa AS (
       INSERT INTO rwas (company_id, name, type, chain_id, contract_address) VALUES ('acme', :name, 'cask', 31337, :contractAddress)
       RETURNING company_id, id, number)
     INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id)
     SELECT company_id, id, number, n, number * 18446744073709551616::numeric + n, '\\x00', 'k' FROM rwa, generate_series(1, 600) n`,
    { name, contractAddress },
  );
  await db.raw(
    `INSERT INTO events (company_id, name, start_date)
     SELECT 'acme', :name, CASE WHEN n % 2 = 0 THEN now() + n * interval '1 day' END FROM generate_series(1, 10) n`,
    { name },
  );
}

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db('companies').insert({ id: 'acme', name: 'acme' });
  await addRows(db, 'first');
});

const foldAll = async (db: Database) => {
  while ((await foldCounts(db)) > 0);
};

const all = ['event_starts', 'events', 'nft_changes', 'nfts', 'rwas'];
const listsOf = (value: { list: string }[]) => value.map(({ list }) => list).sort();

test('are true of rows that came by the triggers, folded or not', async ({ db, json }) => {
  expect(await json('counts', 'verify')).toMatchObject({ status: 0, value: [] });
  await foldCounts(db, 3);
  expect(await json('counts', 'verify')).toMatchObject({ status: 0, value: [] });
  await foldAll(db);
  await db('nfts').where('serial', '<', 50).update({ mint_state: 'failed' });
  await db('events').whereNull('start_date').delete();
  await db('rwas').update({ archived_at: new Date() });
  expect(await json('counts', 'repair')).toMatchObject({ status: 0, value: [] });
  expect(await auditedActions(db)).toEqual([]);
});

test('miss rows that were restored without triggers, until they are counted anew', async ({ db, json }) => {
  await db.transaction(async (tx) => {
    await tx.raw("SET LOCAL session_replication_role = 'replica'");
    await addRows(tx, 'second');
  });
  const { status, value, notes } = await json('counts', 'verify');
  expect({ status, lists: listsOf(value) }).toEqual({ status: 1, lists: all });
  expect(notes).toEqual(['Count them anew: tallystick counts repair']);
  expect(await json('counts', 'repair')).toMatchObject({ status: 0, notes: ['They are counted anew.'] });
  expect(await json('counts', 'verify')).toMatchObject({ status: 0, value: [] });
  expect(await db('audit_log').where('action', 'counts.repair').pluck('subject')).toEqual(
    expect.arrayContaining(all),
  );
});

test('count twice what was restored by triggers beside its counters, until they are counted anew', async ({
  db,
  json,
}) => {
  await foldAll(db);
  await db.raw(
    'INSERT INTO list_changes SELECT company_id, list, bucket, facet, count, latest, earliest FROM list_counts WHERE shift = 0',
  );
  expect(listsOf((await json('counts', 'verify')).value)).toEqual(all);
  expect((await json('counts', 'repair')).status).toBe(0);
  expect(await json('counts', 'verify')).toMatchObject({ status: 0, value: [] });
  expect(await db('list_counts').where({ list: 'nfts', shift: 48 }).sum('count')).toEqual([{ sum: '1200' }]);
});

test('have marks that hide no row, or are counted anew', async ({ db, json }) => {
  await foldAll(db);
  const marked = () => db('list_counts').whereIn('list', ['nfts', 'events']).andWhere('shift', '>', 0);
  await marked().update({
    latest: db.raw("CASE list WHEN 'nfts' THEN latest + 1 END"),
    earliest: db.raw('earliest - 1'),
  });
  expect(await json('counts', 'verify')).toMatchObject({ status: 0, value: [] });
  await marked().where('list', 'nfts').update({ latest: 0 });
  await marked()
    .where('list', 'events')
    .update({ earliest: db.raw('earliest + 2') });
  expect(listsOf((await json('counts', 'verify')).value)).toEqual(['events', 'nfts']);
  // What is not folded yet marks them as well.
  await db('nfts').update({ data: { seen: true } });
  expect(listsOf((await json('counts', 'verify')).value)).toEqual(['events']);
  expect((await json('counts', 'repair')).status).toBe(0);
  expect(await json('counts', 'verify')).toMatchObject({ status: 0, value: [] });
});
