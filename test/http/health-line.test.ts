import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHealthLine } from '../../src/http/server/health-line.ts';
import { listen } from '../../src/http/server/listener.ts';
import { createLoadGuard } from '../../src/http/server/load-guard.ts';
import { createLogger } from '../../src/log.ts';
import { send } from './raw-client.ts';

function paced() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const line = createHealthLine();
  const answered: string[] = [];
  const enter = (network: string, count: number) => {
    for (let index = 0; index < count; index += 1) line.enter(network, () => answered.push(network));
  };
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
    line.enter('again', again);
  };
  line.enter('again', again);
  answered.splice(0);
  vi.advanceTimersByTime(50);
  expect(answered).toHaveLength(50);
  expect(vi.getTimerCount()).toBe(1);
});

test('a server answers for its health beside a flood of such questions, and none of these is refused', async () => {
  const guard = createLoadGuard({ busyMs: 20, tenantOf: () => undefined });
  const server = await listen((_request, response) => response.end('ok'), {
    ...{ host: '127.0.0.1', port: 0, settings: { host: 'HOST', port: 'PORT' } },
    log: createLogger({ level: 'silent' }),
    // All else is.
    guard: { ...guard, admit: () => undefined },
  });
  onTestFinished(() => server.stop(0));
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  // Some leave before they are answered.
  for (let index = 0; index < 50; index += 1) {
    const leaves = connect(server.port, '127.0.0.1', () => leaves.resetAndDestroy());
    leaves.on('error', () => {}).write(get('/healthz'));
  }
  const asked = Array.from({ length: 200 }, () => send(server.port, get('/healthz'), 1));
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 200 '))).toHaveLength(200);
  expect(await send(server.port, get('/healthz?x'), 1)).toMatch(/^HTTP\/1\.1 503 /);
});
