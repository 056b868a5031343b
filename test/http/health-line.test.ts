import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHealthRouter } from '../../src/http/mounts/health.ts';
import { createHealthLine } from '../../src/http/mounts/health-line.ts';
import { listen } from '../../src/http/server/listener.ts';
import { createLoadGuard } from '../../src/http/server/load-guard.ts';
import { createLogger } from '../../src/log.ts';
import { send } from './raw-client.ts';

const createResponse = () => new EventEmitter() as ServerResponse;

function paced() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const line = createHealthLine();
  const answered: string[] = [];
  const enter = (network: string, count: number) =>
    Array.from({ length: count }, () => {
      const response = createResponse();
      line.enter(network, response, () => answered.push(network));
      return response;
    });
  return { line, answered, enter };
}

test('who asks some times a second is answered at once, a flood at a pace', () => {
  const { answered, enter } = paced();
  enter('balancer', 20);
  expect(answered).toHaveLength(20);
  enter('flood', 1_000);
  expect(answered).toHaveLength(100);
  vi.advanceTimersByTime(500);
  expect(answered).toHaveLength(600);
  vi.advanceTimersByTime(1_000);
  expect(answered).toHaveLength(1_020);
  expect(vi.getTimerCount()).toBe(0);
});

test('networks take turns, so that nobody waits behind the flood of another', () => {
  const { answered, enter } = paced();
  enter('flood', 1_000);
  answered.splice(0);
  enter('balancer', 2);
  enter('other', 1);
  vi.advanceTimersByTime(5);
  expect(answered).toEqual(['flood', 'balancer', 'other', 'flood', 'balancer']);
});

test('who asks on from its answer is one more in the line, with one timer for all', () => {
  const { line, answered, enter } = paced();
  enter('flood', 100);
  const again = () => {
    answered.push('again');
    line.enter('again', createResponse(), again);
  };
  again();
  answered.splice(0);
  vi.advanceTimersByTime(50);
  expect(answered).toHaveLength(50);
  expect(vi.getTimerCount()).toBe(1);
});

test('who has gone costs nobody a turn, and nothing is kept of him', () => {
  const { answered, enter } = paced();
  enter('flood', 100);
  const gone = enter('flood', 5_000);
  answered.splice(0);
  for (const response of gone) response.emit('close');
  enter('flood', 1);
  vi.advanceTimersByTime(5);
  expect(answered).toEqual(['flood']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a server answers for its health beside a flood of such questions, and none of these is refused', async () => {
  const app = express().use(createHealthRouter({ checks: [], isServing: () => true, onFailure: () => {} }));
  const guard = createLoadGuard({ busyMs: 20, tenantOf: () => undefined });
  const server = await listen(app, {
    ...{ host: '127.0.0.1', port: 0, settings: { host: 'HOST', port: 'PORT' } },
    log: createLogger({ level: 'silent' }),
    // All else is.
    guard: { ...guard, admit: (asked) => (asked.url?.endsWith('z') ? guard.admit(asked) : undefined) },
  });
  onTestFinished(() => server.stop(0));
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const ask = (path: string) => send(server.port, get(path), 1);
  // Some leave before they are answered.
  for (let index = 0; index < 50; index += 1) {
    const leaves = connect(server.port, '127.0.0.1', () => leaves.resetAndDestroy());
    leaves.on('error', () => {}).write(get('/healthz'));
  }
  const asked = Array.from({ length: 200 }, (_, index) => ask(index % 2 === 0 ? '/healthz' : '/readyz'));
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 200 '))).toHaveLength(200);
  expect(await ask('/healthz?x')).toMatch(/^HTTP\/1\.1 503 /);
});
