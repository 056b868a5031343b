import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { inTime, untilAborted } from '../src/base/in-time.ts';

const never = new Promise<never>(() => {});
const failed = () => Promise.reject(new Error('failed'));

test('gives what the work gives in time, its error included', async () => {
  const { signal } = new AbortController();
  expect(await inTime(Promise.resolve('done'), 1_000)).toBe('done');
  expect(await untilAborted(Promise.resolve('done'), signal)).toBe('done');
  await expect(inTime(failed(), 1_000)).rejects.toThrow('failed');
  await expect(untilAborted(failed(), signal)).rejects.toThrow('failed');
});

test('leaves neither a timer nor a listener behind', async () => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  await inTime(Promise.resolve(), 1_000);
  await inTime(failed(), 1_000).catch(() => {});
  await untilAborted(Promise.resolve(), signal);
  await untilAborted(failed(), signal).catch(() => {});
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  vi.useRealTimers();
});

test('ends with an error of its own when the time is up', async () => {
  await expect(inTime(never, 1)).rejects.toThrow('took over 1 ms');
  await expect(inTime(never, 1, 'too slow')).rejects.toThrow('too slow');
});

test('ends with the reason of the signal, also of one that has aborted before', async () => {
  const controller = new AbortController();
  const reason = new Error('gone');
  const waiting = untilAborted(never, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(untilAborted(never, controller.signal)).rejects.toBe(reason);
});

test('drops what comes late, an error included', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  await expect(inTime(promise, 1)).rejects.toThrow('took over 1 ms');
  // Nobody would handle it, and the run would fail.
  reject(new Error('late'));
});
