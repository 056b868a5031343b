import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import { findProgram } from '../../scripts/find-program.ts';
import { firedAlerts } from '../support/fired-alerts.ts';
import { test } from '../support/fixtures.ts';
import { until } from '../support/minting.ts';
import { alertsOf } from './alert-causes.ts';
import { type ScrapedProcess, startScraped } from './scraped-process.ts';

/** Locks tables against every reader. */
async function lock(db: Knex, ...tables: readonly string[]) {
  const holder = await db.transaction();
  const end = async () => void (holder.isCompleted() || (await holder.rollback()));
  await holder.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
  for (const table of tables) await holder.raw('LOCK TABLE ?? IN ACCESS EXCLUSIVE MODE', [table]);
  return { end, [Symbol.asyncDispose]: end };
}

const shown = (text: string, series: RegExp) =>
  Number(new RegExp(`^${series.source} (\\S+)$`, 'm').exec(text)?.[1]);

/** Returns how many requests it has answered with `overloaded`. */
const overloaded = (text: string) =>
  [...text.matchAll(/^tallystick_http_problems_total\{.*code="overloaded".*\} (\S+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

/** Gives the process no CPU for a second, in which many callers come. @returns their answers */
async function stop({ pid, ask }: ScrapedProcess, key: string): Promise<Promise<number>[]> {
  process.kill(pid, 'SIGSTOP');
  const stopped = performance.now();
  const answers = Array.from({ length: 100 }, () => ask('/v1/api/rwa?limit=1', key));
  await until('a second', async () => performance.now() - stopped > 1_000);
  process.kill(pid, 'SIGCONT');
  await Promise.race(answers);
  return answers;
}

/** Stops the process under load. @returns what it shows right after that */
async function overrun(scraped: ScrapedProcess, key: string): Promise<string> {
  // What it has shown of its event loop before counts no longer.
  await scraped.scrape();
  // Node measures the event loop from its second turn after a scrape, and the first stop may come before.
  const answers = [...(await stop(scraped, key)), ...(await stop(scraped, key))];
  const text = await scraped.scrape();
  // Refusals have a pace, so the next look counts those of this one.
  await Promise.all(answers);
  return text;
}

describe.skipIf(findProgram('promtool') === undefined)(
  'alerts of load and locks, over what a process shows',
  () => {
    test('fire for what is wrong, and nothing else does', async ({ service, db, databaseUrl }) => {
      await using opened = new AsyncDisposableStack();
      // A lane that nobody serves has an alert of its own.
      await db('mint_lanes').delete();
      await db.raw(
        "UPDATE pgboss.queue SET created_on = now() - interval '2 hours' WHERE name = 'chain-audit'",
      );
      await service.parts.jobs.enqueue('chain-audit', ['now']);
      const audit = opened.use(await lock(db, 'audit_chain'));
      // It waits for locks but a second and a half, and admits little while its event loop is a millisecond late.
      const strained = await startScraped(
        databaseUrl,
        { ROLES: 'api,worker', RATE_LIMIT_PER_SECOND: '0' },
        { lockTimeoutMs: 1_500, maxLoopDelayMs: 1 },
      );
      opened.defer(() => strained.stop());
      const before = await strained.scrape();
      const others = opened.use(await lock(db, 'events', 'mint_lanes'));
      expect(await strained.ask('/events/v1/api/event', service.keys.acme)).toBe(503);
      await until('a job that failed', async () =>
        /^tallystick_job_runs_total\{.*outcome="failed"\} [1-9]/m.test(await strained.scrape()),
      );
      const waited = await strained.scrape();
      await Promise.all([audit.end(), others.end()]);

      let after = '';
      const isOverrun = async () => {
        after = await overrun(strained, service.keys.acme);
        const refused = overloaded(after) - overloaded(waited);
        return refused > 60 && shown(after, /nodejs_eventloop_lag_p99_seconds/) > 0.25;
      };
      await until('a process that is overrun', isOverrun, 40);
      const fired = [
        ...(await firedAlerts({ before, after: waited })),
        ...(await firedAlerts({ before: waited, after })),
      ];
      expect([...new Set(fired)].toSorted()).toEqual(
        [...alertsOf('strained'), 'TallystickErrors'].toSorted(),
      );
    });
  },
);
