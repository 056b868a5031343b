import express from 'express';
import supertest from 'supertest';
import { expect, test } from 'vitest';
import { createHealthRouter } from '../../src/http/mounts/health.ts';

test('readiness is checked once for all who ask within a second, and says at once that the process stops', async () => {
  let runs = 0;
  const state = { serving: true };
  const router = createHealthRouter({
    isServing: () => state.serving,
    checks: [
      {
        name: 'database',
        run: async () => {
          runs += 1;
        },
      },
    ],
    onFailure: () => {},
  });
  const app = express().use(router);
  const asked = await Promise.all(Array.from({ length: 20 }, () => supertest(app).get('/readyz')));
  expect(asked.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(runs).toBe(1);
  state.serving = false;
  await supertest(app)
    .get('/readyz')
    .expect(503, { status: 'not ready', checks: { database: 'ok' } });
  expect(runs).toBe(1);
});
