import { describe, expect, vi } from 'vitest';
import { commandLine, settingsFor } from '../cli/command-line.ts';
import { addNetwork } from '../rwa/samples.ts';
import { asUser } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { startMain } from '../support/process.ts';

const startRole = (databaseUrl: string, role: 'api' | 'worker' | 'indexer') =>
  startMain(asUser(databaseUrl, `test_${role}`), { ROLES: role });

type Finding = { readonly check: string; readonly state: string; readonly detail: string };

describe('doctor, on the processes of the service', () => {
  test('reports each role that has no process, and nothing of roles that no network needs', async ({
    db,
    databaseUrl,
  }) => {
    const cli = commandLine(settingsFor(databaseUrl));
    const roles = async () => {
      const { value, notes } = await cli.json('doctor');
      const found: Finding[] = value;
      const states = found.filter(({ check }) => check.startsWith('role '));
      return { notes, states: states.map(({ check, state }) => [check, state]), found: states };
    };
    const none = await roles();
    expect(none.states).toEqual([['role api', 'warning']]);
    expect(none.notes[0]).not.toContain('in order');
    await addNetwork(db, '1');
    await db('networks').update({
      data_provider: 'indexer',
      minter_contract: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    });
    expect((await roles()).states).toEqual([
      ['role api', 'warning'],
      ['role worker', 'warning'],
      ['role indexer', 'warning'],
    ]);

    const all = (['api', 'worker', 'indexer'] as const).map((role) => startRole(databaseUrl, role));
    await Promise.all(all.map((each) => each.until(/service started/)));
    await vi.waitFor(async () => expect(await db('processes')).toHaveLength(3), 10_000);
    const started = await roles();
    expect(started.states).toEqual([
      ['role api', 'ok'],
      ['role worker', 'ok'],
      ['role indexer', 'ok'],
    ]);
    const [api, worker, indexer] = all;
    expect(started.found[1]?.detail).toMatch(
      new RegExp(`:${worker?.child.pid}, \\d+\\.\\d+\\.\\d+, since 20`),
    );

    // An orderly stop leaves no row. What was killed counts as silent a minute after its last heartbeat.
    api?.child.kill('SIGTERM');
    expect(await api?.ended).toBe(0);
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    expect((await roles()).states).toEqual([
      ['role api', 'warning'],
      ['role worker', 'ok'],
      ['role indexer', 'ok'],
    ]);
    await db('processes')
      .where({ roles: '{worker}' })
      .update({
        seen_at: db.raw("clock_timestamp() - interval '61 seconds'"),
      });
    const killed = await roles();
    expect(killed.states[1]).toEqual(['role worker', 'FAULT']);
    expect(killed.found[1]?.detail).toMatch(/^no heartbeat for a minute; the last was of \S+:\d+ at 20/);
    indexer?.child.kill('SIGTERM');
    expect(await indexer?.ended).toBe(0);
  });
});
