import { connect } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { testWith } from '../support/fixtures.ts';

const events = '/events/v1/api/event';

// Each test is of what only the composition of the service could forget: the app has tests of its own.
const test = testWith({
  fixed: { maxAnswerBytes: 1024 * 1024, requestDeadlineMs: 3_000, lockTimeoutMs: 20_000 },
});

test('the deadline of a request ends what a lock keeps waiting', async ({ acme, db }) => {
  await db.transaction(async (tx) => {
    await tx.raw('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    const began = performance.now();
    await acme.get(events).expect(503).expect('retry-after', /\d/);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

test('callers may leave some bytes unread, and no more', async ({ acme, db, service }) => {
  await db.raw(
    `INSERT INTO events (company_id, name, description)
     SELECT ?, 'event ' || n, repeat('x', 29000) FROM generate_series(1, 400) AS n`,
    [service.companies.acme],
  );
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(`GET ${events} HTTP/1.1\r\nhost: x\r\nx-api-key: ${service.keys.acme}\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', () => resolve(socket.pause())));
  await acme.get(`${events}?limit=100`).expect(503);
});
