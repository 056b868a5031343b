import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { testWith } from '../support/fixtures.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import type { TestService } from '../support/service.ts';

// A question that times out would end, too.
const test = testWith({ settings: { RPC_TIMEOUT_MS: '60000', DATABASE_POOL_MAX: '10' } });

/** Sends a request and returns what takes it back. */
function ask({ baseUrl, keys }: TestService, path: string): () => void {
  const request = send(baseUrl + path, { headers: { 'x-api-key': keys.acme } });
  request.on('error', () => {});
  request.end();
  return () => request.destroy();
}

describe('when a caller has gone', () => {
  test('its statement is cancelled, and what it would have asked next is not begun', async ({
    db,
    service,
  }) => {
    const holder = await db.transaction();
    onTestFinished(async () => void (holder.isCompleted() || (await holder.rollback())));
    await holder.raw('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    const leave = Array.from({ length: 6 }, () => ask(service, '/events/v1/api/event?limit=5'));
    await expect.poll(() => countLockWaits(db)).toBeGreaterThan(0);
    for (const each of leave) each();
    await expect.poll(() => countLockWaits(db), { timeout: 10_000 }).toBe(0);
    await expect.poll(() => service.parts.db.client.pool.numUsed()).toBe(0);
    await holder.rollback();
    await service.as(service.keys.acme).get('/events/v1/api/event?limit=5').expect(200);
  });

  test('a change that has begun is finished, and one that has not is not begun', async ({ db, service }) => {
    const acme = service.as(service.keys.acme);
    const { body: event } = await acme.post('/events/v1/api/event').send({ name: 'Fair' }).expect(201);
    const holder = await db.transaction();
    onTestFinished(async () => void (holder.isCompleted() || (await holder.rollback())));
    await holder('events').where('id', event.id).forUpdate();
    const leave = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((attendeeId) => {
      const request = send(`${service.baseUrl}/events/v1/api/event/${event.id}/attendees`, {
        method: 'POST',
        headers: { 'x-api-key': service.keys.acme, 'content-type': 'application/json' },
      });
      request.on('error', () => {});
      request.end(JSON.stringify({ attendeeId }));
      return () => request.destroy();
    });
    await expect.poll(() => countLockWaits(db)).toBe(6);
    for (const each of leave) each();
    // What comes later is answered when the service knows that they have gone.
    for (const _turn of [1, 2]) await fetch(`${service.baseUrl}/healthz`);
    await holder.rollback();
    const count = async () =>
      (await acme.get(`/events/v1/api/event/${event.id}/attendees`).expect(200)).body.length;
    await expect.poll(count).toBe(6);
    await expect.poll(() => service.parts.db.client.pool.numUsed()).toBe(0);
    expect(await count()).toBe(6);
  });

  test('the question to the node is given up, unless somebody else waits for it', async ({ db, service }) => {
    let open = 0;
    const node = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
        if (method === 'eth_chainId') {
          response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x7a69' }));
          return;
        }
        open += 1;
        response.once('close', () => {
          open -= 1;
        });
      });
    });
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      node.closeAllConnections();
      node.close();
    });
    const { port } = node.address() as AddressInfo; // it listens on a port
    await db('networks').update({ rpc_urls: [`http://127.0.0.1:${port}`] });
    const balance = `/blockchain/v1/api/token/balance?chainId=31337&address=0x${'a1'.repeat(20)}`;
    const first = ask(service, balance);
    await expect.poll(() => open).toBeGreaterThan(0);
    const second = ask(service, balance);
    // What comes later is answered when the second one waits.
    for (const _turn of [1, 2]) await fetch(`${service.baseUrl}/healthz`);
    first();
    await service.as().get('/blockchain/v1/api/token/balance').expect(401);
    expect(open).toBeGreaterThan(0);
    second();
    await expect.poll(() => open).toBe(0);
  });
});
