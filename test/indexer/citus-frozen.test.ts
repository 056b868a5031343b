import { readdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import { describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { isAlive, parentOf } from '../../src/local/programs/processes.ts';
import { recordIndexError } from '../../src/providers/indexer/store/write/index-state-store.ts';
import { runDoctor, settingsFor } from '../cli/command-line.ts';
import { perFile, testWith } from '../support/fixtures.ts';
import { insertIndexHead } from '../support/index-head.ts';
import { freePort } from '../support/postgres.ts';

const cluster = process.env['CITUS_URL'];
// Of any process: a company gets a quarter of four fifths of them while its statements are slow, so two.
const poolMax = 10;
// Reads that were under way when the node froze end at their deadline, 15 s.
const settledMs = 18_000;
const loadMs = settledMs + 7_000;

function urlOf(node: string): string {
  const url = new URL(cluster ?? '');
  url.host = node;
  return url.href;
}

/** Stops a node of a cluster on this machine, all its processes at once, which keep their connections. */
async function freeze(url: string): Promise<() => void> {
  const db = createDatabase(url, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  const { rows } = await db.raw('SELECT pg_backend_pid() AS pid');
  const main = parentOf(rows[0].pid) ?? 0;
  await db.destroy();
  const family = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid === main || parentOf(pid) === main);
  const signal = (name: NodeJS.Signals) => {
    for (const pid of family) if (isAlive(pid)) process.kill(pid, name);
  };
  const thaw = () => signal('SIGCONT');
  process.once('exit', thaw);
  signal('SIGSTOP');
  return () => {
    process.off('exit', thaw);
    thaw();
  };
}

/** Looks for a node where nobody listens, as if it were stopped: other files need it. */
async function lose(db: Knex, node: string): Promise<() => Promise<void>> {
  const port = Number(node.split(':')[1]);
  const free = await freePort();
  const move = (from: number, to: number) =>
    db.raw('UPDATE pg_dist_node SET nodeport = ? WHERE nodeport = ?', [to, from]);
  await move(port, free);
  return async () => {
    await move(free, port);
  };
}

const test = testWith({ settings: { DATABASE_POOL_MAX: String(poolMax) }, fixed: { maxWaitMs: 300 } }).extend(
  'wallets',
  perFile,
  async ({ db }) => {
    await insertIndexHead(db);
    const { rows }: { rows: { wallet: string; node: string }[] } = await db.raw(
      `SELECT '0x' || encode(w, 'hex') AS wallet, nodename || ':' || nodeport AS node
       FROM generate_series(1, 40) n, LATERAL (SELECT decode(lpad(to_hex(n), 40, '0'), 'hex') AS w) made
       JOIN pg_dist_shard_placement ON shardid = get_shard_id_for_distribution_column('wallet_history', w)`,
    );
    const [node = ''] = rows.map((row) => row.node);
    const named = (isFrozen: boolean) =>
      rows.filter((row) => (row.node === node) === isFrozen).map(({ wallet }) => wallet);
    return { node, frozen: named(true), healthy: named(false) };
  },
);

describe.skipIf(cluster === undefined)('a frozen node of the cluster', () => {
  test('costs wallets of other nodes nothing, and its own are refused soon', async ({ service, wallets }) => {
    const { acme, globex } = service.keys;
    const ask = async (key: string, wallet: string | undefined) => {
      const began = performance.now();
      const path = `/blockchain/v1/api/wallet/history?chainId=31337&address=${wallet}`;
      const { status, headers } = await service.as(key).get(path);
      return { status, retry: headers['retry-after'], began, ms: performance.now() - began };
    };
    const [ill, well] = [wallets.frozen[0], wallets.healthy[0]];
    for (const wallet of [ill, well]) expect((await ask(acme, wallet)).status).toBe(200);
    // Every connection of the pool has a session with each worker.
    await Promise.all(
      Array.from({ length: 4 * poolMax }, (_, index) =>
        ask(index % 2 === 0 ? acme : globex, index % 4 < 2 ? ill : well),
      ),
    );
    const thaw = await freeze(urlOf(wallets.node));
    const frozenAt = performance.now();
    try {
      // More than the pool has, of two companies, again and again.
      const load = Array.from({ length: 16 }, async (_, index) => {
        const answers = [];
        while (performance.now() - frozenAt < loadMs) {
          answers.push(
            await ask(index % 2 === 0 ? acme : globex, wallets.frozen[index % wallets.frozen.length]),
          );
          await wait(50); // callers who try again
        }
        return answers;
      });
      const healthy = [];
      while (performance.now() - frozenAt < loadMs) {
        healthy.push(await ask(globex, wallets.healthy[healthy.length % wallets.healthy.length]));
        await wait(50); // the pace of the caller
      }
      const refused = (await Promise.all(load)).flat();
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
      expect(refused.every(({ retry }) => Number(retry) >= 1)).toBe(true);
      expect(Math.max(...refused.map(({ ms }) => ms))).toBeLessThan(settledMs);
      // Until its reads under way have ended, the company that asks for its wallets waits behind itself.
      const known = healthy.filter(({ began }) => began > frozenAt + settledMs);
      expect(known.length).toBeGreaterThan(20);
      expect(new Set(known.map(({ status }) => status))).toEqual(new Set([200]));
      expect(Math.max(...known.map(({ ms }) => ms))).toBeLessThan(1_000);
      const late = refused.filter(({ began }) => began > frozenAt + settledMs);
      expect(Math.max(...late.map(({ ms }) => ms))).toBeLessThan(1_000);
    } finally {
      thaw();
    }
    await vi.waitFor(async () => expect((await ask(acme, ill)).status).toBe(200), {
      timeout: 15_000,
      interval: 200,
    });
  }, 90_000);

  test('leaves a company that does not ask for its wallets alone from the first moment', async ({
    service,
    wallets,
  }) => {
    const ask = (key: string, wallet: string | undefined) =>
      service.as(key).get(`/blockchain/v1/api/wallet/history?chainId=31337&address=${wallet}`);
    const thaw = await freeze(urlOf(wallets.node));
    try {
      const waiting = Array.from({ length: 16 }, () => ask(service.keys.acme, wallets.frozen[1]));
      const times: number[] = [];
      for (let count = 0; count < 40; count += 1) {
        const began = performance.now();
        expect((await ask(service.keys.globex, wallets.healthy[1])).status).toBe(200);
        times.push(performance.now() - began);
        await wait(50); // the pace of the caller
      }
      expect(Math.max(...times)).toBeLessThan(1_000);
      const statuses = (await Promise.all(waiting)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([503]));
    } finally {
      thaw();
    }
  });

  test.for([
    ['frozen', (_db: Knex, node: string) => freeze(urlOf(node))],
    ['stopped', lose],
  ] as const)(
    'is named by doctor while it is %s, with the last error of an index',
    async ([, stop], { db, databaseUrl, wallets }) => {
      const error = 'a worker does not answer';
      const examine = async () => (await runDoctor(settingsFor(databaseUrl))).of;
      const start = await stop(db, wallets.node);
      try {
        await recordIndexError(db, '31337', error);
        const of = await examine();
        expect(of('cluster')).toMatchObject([
          {
            state: 'FAULT',
            detail: expect.stringMatching(/^workers that are stopped or frozen: [^,]+; start them again$/),
          },
        ]);
        expect(of('index 31337')).toMatchObject([
          { state: 'warning', detail: expect.stringContaining(error) },
        ]);
      } finally {
        await start();
      }
      await vi.waitFor(async () => expect((await examine())('cluster')).toMatchObject([{ state: 'ok' }]));
      await recordIndexError(db, '31337', undefined);
      expect((await examine())('index 31337')).toEqual([]);
    },
  );
});
