import { expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { acquireLease, LeaseHeldError } from '../../src/db/leases/lease.ts';
import { findLeaseHolder } from '../../src/db/leases/lease-store.ts';
import { test } from '../support/fixtures.ts';
import { waitFor } from '../support/wait-for.ts';

const log = createLogger({ level: 'silent' });
const never = new AbortController().signal;
const seconds = 0.5;

const take = (db: Database, name: string, wait = true) =>
  acquireLease({ db, name, log, signal: never, wait, seconds });
const fenceOf = async (db: Database, name: string) => (await db('leases').where({ name }).first()).fence;

test('is held by one at a time, who is named, and is free when it is released', async ({ db }) => {
  const lease = await take(db, 'a');
  await expect(take(db, 'a', false)).rejects.toThrow(LeaseHeldError);
  expect(await findLeaseHolder(db, 'a')).toMatchObject({
    process: expect.stringMatching(new RegExp(`:${process.pid}$`)),
    since: expect.any(Date),
  });
  await lease.release();
  expect(await findLeaseHolder(db, 'a')).toBeUndefined();
  await (await take(db, 'a', false)).release();
  expect(await fenceOf(db, 'a')).toBe('2');
});

test('of two that ask at once, one gets it', async ({ db }) => {
  const both = await Promise.allSettled([take(db, 'b', false), take(db, 'b', false)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  for (const each of both) if (each.status === 'fulfilled') await each.value.release();
});

test('tells its holder when another process has taken it', async ({ db }) => {
  const lease = await take(db, 'c');
  await db('leases').where({ name: 'c' }).increment('fence');
  await waitFor(() => expect(lease.lost.aborted).toBe(true));
  await lease.release();
  // It was no longer its own to end.
  expect(await findLeaseHolder(db, 'c')).toBeDefined();
});

test('is taken over when nobody renews it, whatever the clock of the database says', async ({ db }) => {
  await db('leases').insert({
    name: 'd',
    fence: '7',
    holder: 'gone:1',
    taken_at: db.fn.now(),
    expires_at: db.raw("now() + interval '1 year'"),
  });
  const lease = await take(db, 'd');
  expect(await fenceOf(db, 'd')).toBe('8');
  await lease.release();
});

test('is taken over within some second of its end, however long it is', async ({ db }) => {
  await db('leases').insert({
    name: 'e',
    fence: '1',
    holder: 'gone:1',
    taken_at: db.fn.now(),
    expires_at: db.raw("now() + interval '1 second'"),
  });
  const begunAt = performance.now();
  const lease = await acquireLease({ db, name: 'e', log, signal: never, seconds: 60 });
  expect(performance.now() - begunAt).toBeLessThan(6_000);
  await lease.release();
});
