import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, describe, expect } from 'vitest';
import { test as base, perFile } from '../support/fixtures.ts';

const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill();
});

async function startProcess(databaseUrl: string): Promise<string> {
  const child = fork(new URL('./other-process.ts', import.meta.url), [databaseUrl]);
  children.push(child);
  const [port] = await once(child, 'message');
  return `http://127.0.0.1:${port}`;
}

const test = base.extend('processes', perFile, async ({ db, databaseUrl }) => {
  await db.raw('CREATE TABLE work (id serial PRIMARY KEY, pid integer)');
  return Promise.all([startProcess(databaseUrl), startProcess(databaseUrl)]);
});

/** So many requests at once, to the two processes in turn. */
function postMany(
  processes: readonly string[],
  count: number,
  headers: Record<string, string>,
): Promise<Response[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      fetch(`${processes[index % processes.length]}/api/thing`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"name":"a"}',
      }),
    ),
  );
}

describe('two processes over one database', () => {
  test('do the work of one Idempotency-Key once', async ({ db, processes }) => {
    const answers = await postMany(processes, 20, { 'x-api-key': 'key-a', 'idempotency-key': 'k' });
    const worked = answers.filter(
      ({ status, headers }) => status === 201 && !headers.has('idempotency-replayed'),
    );
    expect(worked).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(await db('work')).toHaveLength(1);
    // Both replay what only one of them did.
    const replays = await postMany(processes, 10, { 'x-api-key': 'key-a', 'idempotency-key': 'k' });
    const bodies = await Promise.all(replays.map((replay) => replay.json()));
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(replays.every(({ headers }) => headers.get('idempotency-replayed') === 'true')).toBe(true);
  });

  test('count the requests of a key together', async ({ processes }) => {
    const answers = await postMany(processes, 50, { 'x-api-key': 'key-b' });
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(30);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });
});
