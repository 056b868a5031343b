import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, get, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { insertCompany } from '../../src/keys/company-store.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { recipient } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { type RunningProcess, startProcess } from '../support/process.ts';

const restarts = 2;
const callers = 8;

/** A balancer as they are found: keeps connections, asks each replica whether it is ready, never tries again. */
async function startBalancer(ports: number[]) {
  const agent = new Agent({ keepAlive: true });
  const ready = new Set<number>();
  const probe = (port: number) =>
    new Promise<void>((resolve) => {
      const asked = get({ port, host: '127.0.0.1', path: '/readyz', agent: false }, (answer) => {
        if (answer.statusCode === 200) ready.add(port);
        else ready.delete(port);
        answer.resume().once('end', resolve);
      });
      asked.once('error', () => {
        ready.delete(port);
        resolve();
      });
    });
  const probing = setInterval(() => ports.forEach((port) => void probe(port)), 50);
  let turn = 0;
  const server = createServer((request, response) => {
    const usable = ports.filter((port) => ready.has(port));
    turn += 1;
    const port = usable[turn % usable.length];
    if (port === undefined) {
      response.writeHead(599).end();
      return;
    }
    const { url: path, method, headers } = request;
    const upstream = send({ port, host: '127.0.0.1', path, method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 599);
      answer.pipe(response);
    });
    upstream.once('error', () => response.writeHead(599).end());
    request.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port, not on a pipe
    isReady: (port: number) => ready.has(port),
    close: () => {
      clearInterval(probing);
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Reads and writes in turns with this key. @returns what ends them, with how often each status was answered */
function startLoad(port: number, key: string): () => Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const ask = async (turn: number) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const body = JSON.stringify({ name: 'Spring fair', location: 'Long barn, Ely' });
    const write = turn % 2 === 0 && { method: 'POST', body };
    const answer = await fetch(`http://127.0.0.1:${port}/events/v1/api/event`, { headers, ...write });
    await answer.arrayBuffer();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  };
  let isOver = false;
  const asking = Array.from({ length: callers }, async () => {
    for (let turn = 0; !isOver; turn += 1) {
      await ask(turn);
      await delay(1); // the machine also has to start replicas
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(asking);
    return statuses;
  };
}

test('replicas that are restarted one after the other fail no read and no write', async ({
  databaseUrl,
  db,
}) => {
  const company = await insertCompany(db, { name: 'acme', treasuryAddress: recipient });
  const { key } = await issueKey(db, 'live', { companyId: company.id, label: 'acme' });
  const start = async (port = 0) => {
    const replica = startProcess(['src/main.ts'], {
      DATABASE_URL: databaseUrl,
      SECRET_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
      HOST: '127.0.0.1',
      PORT: String(port),
      AREAS: 'events',
      ROLES: 'api',
      DRAIN_SECONDS: '1',
      RATE_LIMIT_PER_SECOND: '0',
      LOG_LEVEL: 'info',
    });
    const [, found] = await replica.until(/"port":(\d+)/);
    return { replica, port: Number(found) };
  };
  const replicas = await Promise.all([start(), start()]);
  const balancer = await startBalancer(replicas.map(({ port }) => port));
  await expect
    .poll(() => replicas.every(({ port }) => balancer.isReady(port)), { timeout: 10_000 })
    .toBe(true);

  const endLoad = startLoad(balancer.port, key);
  const ends: RunningProcess[] = [];
  for (let index = 0; index < restarts; index += 1) {
    const place = index % replicas.length;
    const old = replicas[place];
    if (old === undefined) throw new Error('no replica');
    old.replica.child.kill('SIGTERM');
    expect(await old.replica.ended).toBe(0);
    replicas[place] = await start(old.port);
    await expect.poll(() => balancer.isReady(old.port), { timeout: 10_000 }).toBe(true);
    ends.push(old.replica);
  }
  const statuses = await endLoad();
  for (const { replica } of replicas) replica.child.kill('SIGTERM');
  await Promise.all(replicas.map(({ replica }) => replica.ended));
  balancer.close();
  expect([...statuses.keys()].toSorted()).toEqual([200, 201]);
  expect(ends).toHaveLength(restarts);
});
