import { afterAll, afterEach, describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createNotifications } from '../../src/db/connection/notifications.ts';
import { type Gate, startGate } from '../keys/tcp-gate.ts';
import { closing } from '../support/closing.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { waitFor } from '../support/wait-for.ts';

const log = createLogger({ level: 'silent' });
let gate: Gate;

test.beforeAll(async ({ database }) => {
  gate = await startGate(database.url);
});
afterEach(() => gate.open());
afterAll(() => gate.close());

async function listen(
  database: TestDatabase,
  channels: string[],
  { url = database.url, pulseMs = 10_000 } = {},
) {
  const notes: string[] = [];
  const onGap = vi.fn();
  const listener = closing(createNotifications({ url, log, pulseMs }));
  const [first = '', ...others] = channels;
  const note = (channel: string) => (payload: string) => notes.push(`${channel}: ${payload}`);
  await listener.subscribe({ channel: first, onNotify: note(first), onGap });
  for (const channel of others)
    await listener.subscribe({ channel, onNotify: note(channel), onGap: () => {} });
  return { listener, notes, onGap };
}

const notify = (database: TestDatabase, channel: string, payload: string) =>
  database.db.raw('SELECT pg_notify(?, ?)', [channel, payload]);

/** Told until it is heard: a listener that is on its way back says to nobody when it listens. */
const heardInTheEnd = (database: TestDatabase, notes: string[], channel: string, payload: string) =>
  waitFor(async () => {
    await notify(database, channel, payload);
    expect(notes).toContain(`${channel}: ${payload}`);
  });

const heard = (notes: string[], note: string) => waitFor(() => expect(notes).toContain(note));

const backends = async (database: TestDatabase): Promise<number> => {
  const { rows } = await database.db.raw(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'tallystick listener'`,
  );
  return rows[0].count;
};

const terminate = (database: TestDatabase) =>
  database.db.raw(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'tallystick listener'`,
  );

describe('a listener', () => {
  test('is told of notifications on each of its channels and on no other, whatever their names', async ({
    database,
  }) => {
    const { notes } = await listen(database, ['first', 'Odd "name"; --']);
    await notify(database, 'stranger', 'x');
    await notify(database, 'Odd "name"; --', 'b');
    await notify(database, 'first', 'a');
    await heard(notes, 'first: a');
    expect(notes).toEqual(['Odd "name"; --: b', 'first: a']);
  });

  test('has one connection for all who subscribe, each of whom may leave', async ({ database }) => {
    const { listener, notes } = await listen(database, ['first', 'second']);
    expect(await backends(database)).toBe(1);
    const leave = await listener.subscribe({
      channel: 'second',
      onNotify: () => notes.push('left'),
      onGap: () => {},
    });
    leave();
    await notify(database, 'second', 'x');
    await heard(notes, 'second: x');
    expect(notes).not.toContain('left');
  });

  test('tells a gap to those who subscribe while it listens already', async ({ database }) => {
    const { listener } = await listen(database, ['first']);
    const onGap = vi.fn();
    await listener.subscribe({ channel: 'second', onNotify: () => {}, onGap });
    expect(onGap).toHaveBeenCalledTimes(1);
    await terminate(database);
    await waitFor(() => expect(onGap).toHaveBeenCalledTimes(3));
  });

  test('listens again after its backend was terminated, and reports the loss and the return', async ({
    database,
  }) => {
    const { notes, onGap } = await listen(database, ['first']);
    // Nobody told it what was before it started.
    expect(onGap).toHaveBeenCalledTimes(1);
    await terminate(database);
    await waitFor(() => expect(onGap).toHaveBeenCalledTimes(3));
    await notify(database, 'first', 'again');
    await heard(notes, 'first: again');
  });

  test('goes on trying when the database is out of reach at first', async ({ database }) => {
    gate.refuse();
    const { notes } = await listen(database, ['first'], { url: gate.through(database.url) });
    gate.open();
    await heardInTheEnd(database, notes, 'first', 'late');
  });

  test('notices a connection that is silently dead, and makes another', async ({ database }) => {
    const { notes, onGap } = await listen(database, ['first'], {
      url: gate.through(database.url),
      pulseMs: 100,
    });
    gate.freeze();
    await waitFor(() => expect(onGap.mock.calls.length).toBeGreaterThan(1));
    gate.open();
    await heardInTheEnd(database, notes, 'first', 'thawed');
  });

  test.for([
    ['listening', () => {}],
    ['frozen', () => gate.freeze()],
    ['retrying', () => gate.refuse()],
  ] as const)('closes while %s and leaves no connection behind', async ([_state, disturb], { database }) => {
    const { listener } = await listen(database, ['first'], { url: gate.through(database.url) });
    disturb();
    await listener.close();
    gate.open();
    await waitFor(async () => expect(await backends(database)).toBe(0));
  });
});
