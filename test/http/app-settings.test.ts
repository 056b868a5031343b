import { expect } from 'vitest';
import { testWith } from '../support/fixtures.ts';

const events = '/events/v1/api/event';

// What only the composition of the service could forget: the app has tests of its own.
const test = testWith({
  fixed: { requestDeadlineMs: 300, lockTimeoutMs: 20_000 },
});

test('the deadline of a request ends what a lock keeps waiting', async ({ acme, db }) => {
  await db.transaction(async (tx) => {
    await tx.raw('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    const began = performance.now();
    await acme.get(events).expect(503).expect('retry-after', /\d/);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
