import { expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createJobQueue } from '../../src/jobs/queue.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { until } from '../support/minting.ts';

const test = base.extend('jobs', perFile, async ({ db }, { onCleanup }) => {
  const jobs = createJobQueue({
    db,
    queues: { keyed: ['full', 'empty'], scheduled: [] },
    works: true,
    log: createLogger({ level: 'silent' }),
  });
  onCleanup(() => jobs.stop(1_000));
  return jobs;
});

test('fetches what waits without pauses', async ({ jobs }) => {
  const keys = Array.from({ length: 1_200 }, (_, index) => `job ${index}`);
  await jobs.enqueue('full', keys);
  const batches: { readonly keys: readonly string[]; readonly at: number }[] = [];
  const handle = async (some: readonly string[]) => {
    batches.push({ keys: some, at: performance.now() });
  };
  await jobs.work({ scheduled: [], keyed: [{ queue: 'full', handle }] });
  await until('all', async () => batches.flatMap((batch) => batch.keys).length === keys.length);
  expect(new Set(batches.flatMap((batch) => batch.keys))).toEqual(new Set(keys));
  expect(batches.map((batch) => batch.keys.length)).toEqual([500, 500, 200]);
  const [first, , last] = batches;
  // A pause takes 2 s.
  expect((last?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(2_000);
});

test('asks once in two seconds while nothing waits', async ({ db, jobs }) => {
  const times: number[] = [];
  const note = ({ sql }: { sql: string }) => isFetch(sql) && times.push(performance.now());
  db.on('query', note);
  await jobs.work({ scheduled: [], keyed: [{ queue: 'empty', async handle() {} }] });
  await until('a third time', async () => times.length >= 3);
  db.off('query', note);
  const [first = 0, , third = 0] = times;
  expect(third - first).toBeGreaterThan(3_000);
});

const isFetch = (text: string) => text.includes("'empty'") && text.includes('SKIP LOCKED');
