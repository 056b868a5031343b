import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Sender } from '../contract/sender.ts';
import { createProbing } from './prober.ts';
import { property } from './property.ts';
import { runProperties } from './run-properties.ts';

const headers = {
  'x-request-id': 'a',
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json',
};

/** A service that fails when asked for 100 RWAs or more, and answers nothing documented to any other number. */
const odd: Sender = {
  send: async ({ method, path }) => {
    const limit = Number(path.split('=')[1]);
    const text = '{"total":0,"limit":1,"offset":0,"cursor":null,"rwas":[]}';
    return { method, path, headers, status: limit >= 100 ? 500 : 200, text };
  },
  toCurl: ({ path }) => `curl ${path}`,
  close: () => {},
};

const listing = property('lists', 1, fc.integer({ min: 1, max: 200 }), async (prober, limit) => {
  await prober.send({ area: 'rwa', method: 'get', path: `/v1/api/rwa?limit=${limit}`, headers: {} });
});

const run = (seed: number, requests: number) => {
  const paths: string[] = [];
  const probing = createProbing({
    ...odd,
    send: (request) => {
      paths.push(request.path);
      return odd.send(request);
    },
  });
  const options = { requests, seed, lanes: 1, onProgress: () => {} };
  return runProperties([listing], probing, options).then((findings) => ({ findings, paths }));
};

describe('a run of properties', () => {
  test('tells the requests of the smallest counterexample, with what is wrong', async () => {
    const { findings } = await run(1, 1_000);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ property: 'lists', trace: [{ curl: 'curl /v1/api/rwa?limit=100' }] });
    expect(findings[0]?.reason).toMatch(/answered 500/);
  });

  test('sends the same with the same seed, and other things with another', async () => {
    expect((await run(7, 50)).paths).toEqual((await run(7, 50)).paths);
    expect((await run(8, 50)).paths).not.toEqual((await run(7, 50)).paths);
  });

  test('ends when it has sent so many', async () => {
    const few = property('says nothing wrong', 1, fc.constant(1), async (prober, limit) => {
      await prober.send({ area: 'rwa', method: 'get', path: `/v1/api/rwa?limit=${limit}`, headers: {} });
    });
    const probing = createProbing(odd);
    await runProperties([few], probing, { requests: 60, seed: 1, lanes: 2, onProgress: () => {} });
    expect(probing.sent()).toBe(75);
  });
});
