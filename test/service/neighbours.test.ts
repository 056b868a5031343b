import { describe, expect, onTestFinished } from 'vitest';
import { testWith } from '../support/fixtures.ts';
import { countLockWaits } from '../support/lock-waits.ts';

const test = testWith({
  settings: { DATABASE_POOL_MAX: '10' },
  fixed: { maxWaitMs: 300, lockTimeoutMs: 20_000 },
});
const testWithManyConnections = testWith({
  settings: { DATABASE_POOL_MAX: '40' },
  fixed: { lockTimeoutMs: 20_000 },
});
const events = '/events/v1/api/event';

describe('a company whose requests wait for one locked row', () => {
  test('keeps no other company waiting, and is told to come again', async ({ acme, globex, db }) => {
    const { body: hot } = await acme.post(events).send({ name: 'Fair' }).expect(201);
    const { body: other } = await globex.post(events).send({ name: 'Fair' }).expect(201);
    const holder = await db.transaction();
    onTestFinished(async () => void (holder.isCompleted() || (await holder.rollback())));
    await holder('events').where('id', hot.id).forUpdate();
    const waiting = Array.from({ length: 20 }, () =>
      acme
        .patch(`${events}/${hot.id}`)
        .send({ name: 'Fairer' })
        .then(({ status }) => status),
    );
    await expect.poll(() => countLockWaits(db)).toBeGreaterThanOrEqual(2);
    for (let asked = 0; asked < 5; asked += 1) {
      await globex.get(`${events}/${other.id}`).expect(200);
      await globex
        .patch(`${events}/${other.id}`)
        .send({ name: `Fair ${asked}` })
        .expect(200);
    }
    await expect.poll(async () => (await acme.get(events)).body.code, { timeout: 15_000 }).toBe('overloaded');
    await holder.rollback();
    for (const status of await Promise.all(waiting)) expect([200, 503]).toContain(status);
    await acme.get(`${events}/${hot.id}`).expect(200);
  });
});

describe('a company that asks for much at once', () => {
  testWithManyConnections.for([
    ['answers that are sent in pieces', 300, `${events}?limit=200`],
    ['answers', 40, `${events}?limit=200`],
    ['lists as a whole', 1, events],
  ] as const)('gets its large %s two at a time', async ([, sentences, path], { acme, globex, db }) => {
    await db('events').where('name', 'like', 'Many %').delete();
    await db.raw(
      `INSERT INTO events (company_id, name, description)
        SELECT company_id, 'Many ' || n, repeat('What happens there. ', ?)
        FROM (SELECT company_id FROM events GROUP BY 1) c, generate_series(1, 200) n`,
      [sentences],
    );
    await acme.get(path).expect(200);
    const holder = await db.transaction();
    onTestFinished(async () => void (holder.isCompleted() || (await holder.rollback())));
    await holder.raw('LOCK TABLE events');
    await globex.get('/v1/api/rwa').expect(200);
    const listed = [acme, acme, acme, acme, globex].map((company) =>
      company.get(path).then((answer) => answer),
    );
    // Two and one; that of the other company came last, so all had their chance.
    await expect.poll(() => countLockWaits(db)).toBe(3);
    await globex.get('/v1/api/rwa').expect(200);
    expect(await countLockWaits(db)).toBe(3);
    await holder.rollback();
    for (const { status } of await Promise.all(listed)) expect(status).toBe(200);
  });
});
