import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Finding } from '../../src/cli/shared/finding.ts';
import { saveProcess } from '../../src/db/records/process-store.ts';
import { addNetwork, contractAddress } from '../rwa/samples.ts';
import { test } from './fixtures.ts';

test('doctor reports each role that has no process, and nothing of roles that no network needs', async ({
  db,
  json,
}) => {
  const roles = async () => {
    const found: Finding[] = (await json('doctor')).value;
    return found.filter(({ check }) => check.startsWith('role '));
  };
  const states = async () => (await roles()).map(({ check, state }) => `${check}: ${state}`);
  expect(await states()).toEqual(['role api: warning']);
  await addNetwork(db, '1');
  await db('networks').update({ data_provider: 'indexer', minter_contract: contractAddress });
  expect(await states()).toEqual(['role api: warning', 'role worker: warning', 'role indexer: warning']);
  for (const role of ['api', 'worker', 'indexer']) {
    const facts = { id: randomUUID(), name: `host:${role}`, roles: [role], version: '1.2.3', uptime: 5 };
    await saveProcess(db, facts);
  }
  expect(await states()).toEqual(['role api: ok', 'role worker: ok', 'role indexer: ok']);
  expect((await roles())[1]?.detail).toMatch(/^host:worker, 1\.2\.3, since 20/);
  // A killed process counts as silent a minute after its last heartbeat.
  await db('processes')
    .where({ roles: '{worker}' })
    .update({ seen_at: db.raw("clock_timestamp() - interval '61 seconds'") });
  const [, worker] = await roles();
  expect([worker?.state, worker?.detail]).toEqual([
    'FAULT',
    expect.stringMatching(/^no heartbeat for a minute; the last was of host:worker at 20/),
  ]);
});
