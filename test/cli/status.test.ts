import { randomUUID } from 'node:crypto';
import { describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { acquireLease } from '../../src/db/leases/lease.ts';
import { beginHeartbeat } from '../../src/db/records/heartbeat.ts';
import { purgeExpiredRows } from '../../src/db/records/housekeeping.ts';
import { saveProcess } from '../../src/db/records/process-store.ts';
import { indexLeaseName } from '../../src/providers/indexer/follow/index-runner.ts';
import { test } from './fixtures.ts';

const log = createLogger({ level: 'silent' });

const facts = { name: 'host:1', roles: ['api', 'worker'], version: '1.2.3', uptime: 5 };

describe('status', () => {
  test('says in one table what each part does', async ({ db, run, json, service }) => {
    const none = { part: 'process', name: 'none', state: 'not running', since: null };
    expect((await json('status')).value).toEqual(expect.arrayContaining([expect.objectContaining(none)]));
    const id = randomUUID();
    await saveProcess(db, { ...facts, id });
    await saveProcess(db, { ...facts, id: randomUUID(), name: 'host:2', roles: ['indexer'], uptime: 1 });
    await db('processes')
      .where({ id })
      .update({ seen_at: new Date(Date.now() - 61_000) });
    await db('mint_lanes').update({
      pause_reason: 'balance_too_low',
      pause_detail: 'It has 0 ETH.',
      paused_at: new Date(),
    });
    const lease = await acquireLease({
      db,
      log,
      name: indexLeaseName('31337'),
      signal: new AbortController().signal,
    });
    await service.parts.jobs.enqueue('mint-nft', ['one', 'other']);
    const { status, value } = await json('status');
    expect(status).toBe(0);
    expect(value).toMatchObject(
      [
        {
          part: 'process',
          name: 'host:1',
          state: 'silent',
          detail: expect.stringMatching(/^api,worker; 1\.2\.3; /),
        },
        { part: 'process', name: 'host:2', state: 'running', since: expect.stringMatching(/^20/) },
        {
          part: 'lane',
          name: expect.stringMatching(/^31337 0x/),
          state: 'balance_too_low',
          detail: '0 queued; 0 in flight; It has 0 ETH.; Send funds to the signer.',
        },
        { part: 'index', name: '31337 Test chain', state: 'beginning', detail: /^indexer \S+:\d+$/ },
        { part: 'queue', name: 'chain-audit', state: 'idle' },
        { part: 'queue', name: 'mint-nft', state: 'waiting', detail: '2 waiting; 0 active' },
        { part: 'queue', name: 'purge-expired', state: 'idle' },
        { part: 'queue', name: 'send-news', state: 'idle' },
      ].map((row) => ({
        ...row,
        ...(row.detail instanceof RegExp && { detail: expect.stringMatching(row.detail) }),
      })),
    );
    const { out } = await run('status');
    expect(out).toMatch(/^PART +NAME +STATE +SINCE +DETAIL\nprocess +host:1 +silent +20/);
    await lease.release();
  });
});

describe('the heartbeat of a process', () => {
  test('is renewed, ends with the process, and is purged after a day of silence', async ({ db }) => {
    await db('processes').delete();
    const heartbeat = beginHeartbeat({ db, log, roles: ['api'], version: '1.2.3', pauseMs: 10 });
    const seen = async () => (await db('processes').first())?.seen_at.getTime() ?? 0;
    const first = await vi.waitUntil(seen);
    await vi.waitUntil(async () => (await seen()) > first);
    expect(await db('processes')).toHaveLength(1);
    await heartbeat.stop();
    expect(await db('processes')).toEqual([]);
    const silent = async (age: string) => {
      const id = randomUUID();
      await saveProcess(db, { ...facts, id });
      await db.raw('UPDATE processes SET seen_at = clock_timestamp() - ?::interval WHERE id = ?', [age, id]);
      return id;
    };
    const kept = await silent('23 hours');
    await silent('25 hours');
    await purgeExpiredRows(db);
    expect(await db('processes').pluck('id')).toEqual([kept]);
  });

  test('that cannot be stored is logged once, and keeps nothing else', async ({ db }) => {
    const lines: string[] = [];
    const told = createLogger({ level: 'warn', destination: { write: (line) => lines.push(line) } });
    await db.raw('ALTER TABLE processes RENAME TO hidden');
    const save = vi.spyOn(db, 'raw');
    const heartbeat = beginHeartbeat({ db, log: told, roles: ['api'], version: '1', pauseMs: 5 });
    await vi.waitUntil(() => save.mock.calls.length > 3);
    save.mockRestore();
    await db.raw('ALTER TABLE hidden RENAME TO processes');
    await vi.waitUntil(async () => (await db('processes').where({ version: '1' })).length === 1);
    await heartbeat.stop();
    expect(lines).toEqual([expect.stringContaining('heartbeat not stored')]);
  });
});
