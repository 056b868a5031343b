import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished } from 'vitest';
import { claimRecords } from '../../src/db/records/idempotency-store.ts';
import { contractAddress } from '../rwa/samples.ts';
import { callNode } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { documentedOperations } from './documented.ts';
import { makeKnownData } from './known-data.ts';
import { type OperationId, rows } from './operations.ts';

const test = base.extend('serviceOptions', perFile, ({ chain }) => ({ rpcUrl: chain.rpcUrl }));

// The contract of the network, which new RWAs name.
test.beforeAll(({ chain }) => callNode(chain.rpcUrl, 'anvil_setCode', [contractAddress, '0x00']));

const operations = documentedOperations.filter(({ parameters }) =>
  parameters.some(({ name }) => name === 'Idempotency-Key'),
);

// That another body is 422, `deployment.test.ts` shows of each; what a record is, `http/idempotency.test.ts`.
describe.for(operations)('$id with an Idempotency-Key', ({ id }) => {
  test('is 409 while the first request runs, works once, and is answered alike then', async ({
    service,
    acme,
  }) => {
    const row = rows[id as OperationId]; // a row for every operation is made
    const ids = await makeKnownData(service, 'acme');
    const key = randomUUID();
    const path = row.path(ids);
    const send = () => {
      const sending = acme[row.method](path).set('idempotency-key', key);
      return row.body === undefined ? sending : sending.send(row.body(ids));
    };
    // What the first request does before its work.
    const request = { companyId: service.companies.acme, method: row.method.toUpperCase(), path, key };
    const running = await service.db.transaction();
    onTestFinished(async () => void (running.isCompleted() || (await running.rollback())));
    await claimRecords(running, [{ ...request, requestHash: Buffer.alloc(32) }]);
    const early = await send().expect(409);
    await running.rollback();
    expect(early.body.code).toBe('idempotency_in_progress');
    expect(Number(early.headers['retry-after'])).toBeGreaterThan(0);

    const first = await send().expect(row.own);
    const records = await service.db('idempotency_records').where({ key });
    expect(records).toHaveLength(1);
    const again = await send().expect(row.own);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
    for (const name of ['location', 'etag']) expect(again.headers[name]).toBe(first.headers[name]);
    const shown = [...first.text.matchAll(/"secret":"(?:whsec_)?([^"]+)"/g)].map(([, secret = '']) => secret);
    for (const secret of [ids.secret, ...shown]) expect(JSON.stringify(records)).not.toContain(secret);
  });
});
