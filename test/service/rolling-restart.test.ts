import { once } from 'node:events';
import { Agent, createServer, get, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
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
    const upstream = send({ port, host: '127.0.0.1', path: request.url, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 599);
      answer.pipe(response);
    });
    upstream.once('error', () => response.writeHead(599).end());
    upstream.end();
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

test('replicas that are restarted one after the other fail no request', { timeout: 60_000 }, async ({
  databaseUrl,
}) => {
  const start = async (port = 0) => {
    const replica = startProcess(['src/main.ts'], {
      DATABASE_URL: databaseUrl,
      SECRET_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
      HOST: '127.0.0.1',
      PORT: String(port),
      AREAS: 'rwa',
      ROLES: 'api',
      DRAIN_SECONDS: '1',
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

  const statuses = new Map<number, number>();
  let isOver = false;
  const load = Array.from({ length: callers }, async () => {
    while (!isOver) {
      const answer = await fetch(`http://127.0.0.1:${balancer.port}/v1/api/rwa`);
      await answer.arrayBuffer();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      await delay(1); // the machine also has to start replicas
    }
  });
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
  isOver = true;
  await Promise.all(load);
  for (const { replica } of replicas) replica.child.kill('SIGTERM');
  await Promise.all(replicas.map(({ replica }) => replica.ended));
  balancer.close();
  // Without a key each request is 401: answered, by the service itself.
  expect([...statuses.keys()]).toEqual([401]);
  expect(ends).toHaveLength(restarts);
});
