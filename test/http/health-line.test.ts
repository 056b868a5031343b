import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHealthLine } from '../../src/http/mounts/health-line.ts';

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
