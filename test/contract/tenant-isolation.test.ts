import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { describe, expect } from 'vitest';
import { contractAddress } from '../rwa/samples.ts';
import { callNode } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { indexChain } from '../support/index-chain.ts';
import type { TestService } from '../support/service.ts';
import { documentedOperations } from './documented.ts';
import { makeKnownData } from './known-data.ts';
import { type Ids, type Row, rows } from './operations.ts';

const test = base
  .extend('serviceOptions', perFile, ({ chain }) => ({ rpcUrl: chain.rpcUrl }))
  // For requests that must change nothing. What is served changes data of its own.
  .extend('known', perFile, async ({ service }) => ({
    acme: await makeKnownData(service, 'acme'),
    globex: await makeKnownData(service, 'globex'),
  }));

test.beforeAll(async ({ service, chain }) => {
  await indexChain(service, chain.rpcUrl);
  // The contract of the network, which new RWAs name.
  await callNode(chain.rpcUrl, 'anvil_setCode', [contractAddress, '0x00']);
});

type KeyName = keyof TestService['keys'];

const call = (service: TestService, row: Row, ids: Ids, key?: string) => {
  const sending = service.as(key)[row.method](row.path(ids));
  return row.body === undefined ? sending : sending.send(row.body(ids));
};

/** Everything that a request could change, to be compared before and after a refused one. */
const snapshot = async (service: TestService) => {
  const tables = [
    'events',
    'attendees',
    'revoked_tickets',
    'rwas',
    'nfts',
    'wrong_secrets',
    'idempotency_records',
    'ownership_snapshots',
    'news',
    'news_endpoints',
    'news_deliveries',
  ];
  const contents = await Promise.all(tables.map((table) => service.db(table).select().orderBy(1)));
  return JSON.stringify(contents);
};

const withoutRequestId = (response: Response) =>
  response.text.replace(/"requestId":"[^"]*"/, '"requestId":""');

test('every documented operation has a row here, and no other', () => {
  const documented = documentedOperations.map(({ id }) => id);
  expect(Object.keys(rows).toSorted()).toEqual(documented.toSorted());
});

describe.each(Object.entries(rows))('%s', (_id, row) => {
  const refusals: [string, KeyName | undefined, number][] = [
    ['a revoked key', 'revoked', 401],
    ['no key', undefined, 401],
  ];
  if (row.area !== 'blockchain') refusals.push(['a key without a company', 'noCompany', 403]);

  test('serves the company of the key its own data', async ({ service }) => {
    expect((await call(service, row, await makeKnownData(service, 'acme'), service.keys.acme)).status).toBe(
      row.own,
    );
  });

  if (row.isPublic) {
    test.for(refusals)('serves the public with %s', async ([_name, key], { service }) => {
      expect(
        (await call(service, row, await makeKnownData(service, 'acme'), key && service.keys[key])).status,
      ).toBe(row.own);
    });
    return;
  }

  test.for(refusals)(
    'refuses %s, whatever id is asked for, and changes nothing',
    async ([_name, key, status], { service, known }) => {
      const { acme: own, globex: foreign } = known;
      const unknown: Ids = {
        ...own,
        eventId: randomUUID(),
        rwaId: randomUUID(),
        nftId: randomUUID(),
        snapshotId: randomUUID(),
        endpointId: randomUUID(),
      };
      const malformed: Ids = {
        ...own,
        eventId: 'x',
        rwaId: 'x',
        nftId: 'x',
        snapshotId: 'x',
        endpointId: 'x',
      };
      const before = await snapshot(service);
      for (const ids of [own, foreign, unknown, malformed]) {
        expect((await call(service, row, ids, key && service.keys[key])).status).toBe(status);
      }
      expect(await snapshot(service)).toBe(before);
    },
  );

  if (row.area === 'blockchain') {
    test('serves a key without a company: the chain belongs to nobody', async ({ service }) => {
      expect(
        (await call(service, row, await makeKnownData(service, 'acme'), service.keys.noCompany)).status,
      ).toBe(row.own);
    });
  }

  const { addressed } = row;
  if (addressed === undefined) return;

  test("shows nothing of another company's data and leaves it as it is", async ({ service, known }) => {
    const foreign = known.globex;
    const unknown = { ...foreign, [addressed.by]: randomUUID() };
    const before = await snapshot(service);
    const answerToForeign = await call(service, row, foreign, service.keys.acme);
    const answerToUnknown = await call(service, row, unknown, service.keys.acme);
    expect(answerToForeign.status).toBe(addressed.foreign);
    expect(answerToUnknown.status).toBe(addressed.unknown);
    if (addressed.foreign === addressed.unknown) {
      expect(withoutRequestId(answerToForeign)).toBe(withoutRequestId(answerToUnknown));
    }
    expect(await snapshot(service)).toBe(before);
  });

  test('names a malformed id', async ({ service, known }) => {
    const malformed = { ...known.acme, [addressed.by]: 'not-a-uuid' };
    const answer = await call(service, row, malformed, service.keys.acme);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].in).toMatch(/path|query/);
  });
});
