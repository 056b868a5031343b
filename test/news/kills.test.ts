import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { expect, onTestFinished } from 'vitest';
import { test as base, perFile } from '../support/fixtures.ts';
import { endpointPath, startNewsWork, startReceiver } from './news-world.ts';

const test = base.extend('serviceOptions', perFile, { settings: { WEBHOOK_HOSTS: '127.0.0.1' } });

const sequences = 200;
const subjects = Array.from({ length: 6 }, () => randomUUID());
const pick = (below: number) => Math.floor(Math.random() * below);

/** Ends the connections of the worker at whatever statement each is, as its death does. */
const cutConnections = (db: Knex) =>
  db.raw(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'test_worker' AND datname = current_database()",
  );

/** Writes some news, one after the other of each subject. */
async function write(db: Knex, companyId: string): Promise<void> {
  const chosen = subjects.filter(() => Math.random() < 0.5);
  await db.raw(
    `INSERT INTO news (company_id, type, subject, data)
     SELECT ?, 'nft.minted', s, jsonb_build_object('nftId', s) FROM unnest(?::uuid[]) s`,
    [companyId, chosen],
  );
}

/** Runs sequencer and sender, and kills both: the sender at one of its steps, or both in the middle of a statement. */
async function runUntilKilled(db: Knex, databaseUrl: string): Promise<string> {
  const lastStep = 1 + pick(12);
  let steps = 0;
  let killedAt = '';
  const killed = Promise.withResolvers<void>();
  const work = startNewsWork(databaseUrl, {
    retries: 'fallback alone',
    async step(step) {
      steps += 1;
      if (steps < lastStep) return;
      killedAt ||= step;
      killed.resolve();
      throw new Error('killed');
    },
  });
  if (Math.random() < 0.3) await delay(pick(150));
  else await Promise.race([killed.promise, delay(1_500), work.failed]);
  await cutConnections(db);
  await work.stop();
  return killedAt || 'a statement';
}

test(`after ${sequences} deaths of sequencer and sender nothing is lost, and no subject is out of order`, {
  timeout: 900_000,
}, async ({ acme, databaseUrl, db, service }) => {
  const company = service.companies.acme;
  const receiver = await startReceiver();
  await acme
    .post(endpointPath)
    .send({ url: receiver.url, types: ['nft.minted'] })
    .expect(201);
  const deaths = new Set<string>();
  for (let sequence = 0; sequence < sequences; sequence += 1) {
    await write(db, company);
    const running = runUntilKilled(db, databaseUrl);
    await write(db, company);
    deaths.add(await running);
  }
  // A run that kills at few places shows little.
  expect([...deaths].toSorted()).toEqual(['a statement', 'picked', 'posted', 'recorded', 'taken over']);

  const last = startNewsWork(databaseUrl, { retries: 'fallback alone' });
  onTestFinished(() => last.stop());
  const count = async () => Number((await db('news').where({ type: 'nft.minted' }).count())[0]?.['count']);
  const written = await count();
  const arrived = () => new Set(receiver.received.map(({ body }) => body.id));
  await expect.poll(() => arrived().size, { timeout: 120_000 }).toBe(written);

  const rows = await db('news').where({ company_id: company }).orderBy('position').select('id', 'position');
  expect(rows.map(({ position }) => Number(position))).toEqual(rows.map((_, index) => index + 1));
  const numbers = new Map(rows.map(({ id, position }) => [id, Number(position)]));
  for (const { body } of receiver.received) expect(body.sequence).toBe(numbers.get(body.id));
  for (const subject of subjects) {
    const own = receiver.received.flatMap(({ body }) =>
      body.data['nftId'] === subject ? [body.sequence] : [],
    );
    // The first arrival of each; what comes twice says nothing of the order.
    const first = [...new Set(own)];
    expect(first).toEqual(first.toSorted((a, b) => a - b));
  }
});
