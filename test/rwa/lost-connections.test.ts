import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { queuedKeys } from './mint-requests.ts';
import { addRwa } from './samples.ts';

const rounds = 25;
const callers = 8;

test('mints whose connections to the database are cut are answered with 200 or 503, and done once', async ({
  service,
  acme,
}) => {
  const rwa = await addRwa(service.db, service.companies.acme, { isClaimable: true });
  const statuses = new Set<number>();
  let isCutting = true;
  const cut = async () => {
    for (let round = 0; round < rounds; round += 1) {
      await post(); // between two cuts something gets through
      // Its own connection may be what another round has cut.
      await service.db
        .raw(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        )
        .catch(() => {});
    }
    isCutting = false;
  };
  const accepted: string[] = [];
  /** Until it is accepted, with one key. */
  const post = async () => {
    const key = randomUUID();
    for (;;) {
      const { status, body } = await acme
        .post(`/v1/api/rwa/${rwa.id}/mint`)
        .set('idempotency-key', key)
        .send({});
      statuses.add(status);
      if (status === 200) return accepted.push(body.nftId);
      if (status !== 503 && status !== 409) return 0;
    }
  };
  const call = async () => {
    while (isCutting) await post();
  };
  await Promise.all([cut(), ...Array.from({ length: callers }, call)]);
  expect([...statuses].filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
  expect(statuses).toContain(503);
  const made = await service.db('nfts').where({ rwa_id: rwa.id });
  expect(made.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted());
  const jobs = new Set(await queuedKeys(service));
  expect(accepted.every((id) => jobs.has(id))).toBe(true);
});
