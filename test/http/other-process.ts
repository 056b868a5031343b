import type { AddressInfo } from 'node:net';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createLimiter } from '../../src/http/dispatch/limits.ts';
import { callerOf, type FixtureHandler, fixtureApp } from './support.ts';

// A process of its own that serves the fixture over a database of the test, until it is killed.

const [url = ''] = process.argv.slice(2);
const log = createLogger({ level: 'silent' });
const db = createDatabase(url, { poolMax: 10, log });

const createThing: FixtureHandler = (_input, { once }) =>
  once(async (tx) => {
    const [row] = await tx('work').insert({ pid: process.pid }).returning('id');
    return { status: 201, body: { id: row.id, pid: process.pid } };
  });

const app = await fixtureApp({
  db,
  handlers: { createThing },
  // On a busy machine 25 requests at once wait for longer than callers would.
  limiter: createLimiter({ db, log, defaults: { perSecond: 0.01, burst: 30 }, waitMs: 5_000 }),
  verifier: {
    verify: async (key) => ({ ok: true, caller: callerOf('acme', key) }),
    close: async () => {},
  },
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port); // it listens on TCP
});
