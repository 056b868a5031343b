import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAskers, createSemaphore } from '../src/base/semaphore.ts';

const never = new AbortController().signal;
const settled = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup(places = 8) {
  const semaphore = createSemaphore({ places, waitMs: 300 });
  const begun: string[] = [];
  /** Asks for places; what gives back those that were got is in `ends`, in the order of their beginning. */
  const ends: { company: string; end: () => void }[] = [];
  const take = (company: string, count = 1, signal = never) =>
    Array.from({ length: count }, async () => {
      const end = await semaphore.take(company, { signal });
      begun.push(company);
      ends.push({ company, end });
    }).map((taken) => {
      // Most tests leave some waiting.
      taken.catch(() => {});
      return taken;
    });
  const endOne = async (company: string) => {
    const [found] = ends.splice(
      ends.findIndex((each) => each.company === company),
      1,
    );
    found?.end();
    await settled();
  };
  const countOf = (company: string) => begun.filter((name) => name === company).length;
  return { take, endOne, begun, ends, countOf };
}

describe('places', () => {
  test('are three quarters for a company that asks alone', async () => {
    const { take, countOf } = setup();
    take('alone', 20);
    await settled();
    expect(countOf('alone')).toBe(6);
  });

  test('are a quarter for a company while others ask, and so there is one for the next company', async () => {
    const { take, countOf } = setup();
    take('other');
    take('greedy', 20);
    await settled();
    expect(countOf('greedy')).toBe(2);
    take('second', 2);
    take('third', 2);
    await settled();
    expect([countOf('second'), countOf('third')]).toEqual([2, 2]);
  });

  test('are three quarters again when nobody else has asked for a second', async () => {
    const { take, endOne, countOf } = setup();
    take('other');
    await settled();
    await vi.advanceTimersByTimeAsync(1_001);
    take('alone', 20);
    await settled();
    expect(countOf('alone')).toBe(5);
    await endOne('other');
    expect(countOf('alone')).toBe(6);
  });

  test('go past a company that has its quarter', async () => {
    const { take, endOne, begun } = setup(4);
    take('greedy', 5);
    take('a');
    take('b');
    await settled();
    expect(begun).toEqual(['greedy', 'greedy', 'greedy', 'a']);
    await endOne('greedy');
    expect(begun.at(-1)).toBe('b');
    await endOne('greedy');
    expect(begun).toHaveLength(5);
    await endOne('greedy');
    expect(begun.at(-1)).toBe('greedy');
  });

  test('go to companies in turn: the line of no other company comes first', async () => {
    const { take, endOne, begun } = setup(4);
    for (const greedy of ['a', 'b', 'c', 'd']) take(greedy, 100);
    await settled();
    take('late', 2);
    for (let ended = 0; ended < 5; ended += 1) await endOne('a');
    expect(begun.filter((company) => company === 'late')).toHaveLength(1);
    await endOne('late');
    await endOne('b');
    expect(begun.filter((company) => company === 'late')).toHaveLength(2);
  });

  test('that are given back are offered to each company once, however many of its requests wait', async () => {
    const askers = createAskers();
    const looks = vi.spyOn(askers, 'hasOthers');
    const semaphore = createSemaphore({ places: 8, waitMs: 300, askers });
    const end = await semaphore.take('other', { signal: never });
    const taken = Array.from({ length: 1_000 }, async () => semaphore.take('greedy', { signal: never }));
    for (const each of taken) each.catch(() => {});
    await taken[0];
    looks.mockClear();
    end();
    expect(looks.mock.calls.length).toBeLessThan(3);
  });

  test('are given back once, however often that is said', async () => {
    const { take, ends, countOf } = setup(1);
    take('a', 3);
    await settled();
    ends[0]?.end();
    ends[0]?.end();
    await settled();
    expect(countOf('a')).toBe(2);
  });
});

describe('a request that waits', () => {
  test('is refused when its time is over, and leaves its line', async () => {
    const { take, endOne, countOf } = setup(1);
    take('a');
    const [waiting] = take('a');
    const refused = expect(waiting).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    await vi.advanceTimersByTimeAsync(300);
    await refused;
    await endOne('a');
    expect(countOf('a')).toBe(1);
    take('a');
    await settled();
    expect(countOf('a')).toBe(2);
  });

  test('leaves when its caller has gone', async () => {
    const { take, endOne, begun } = setup(1);
    take('a');
    const leaver = new AbortController();
    const [waiting] = take('a', 1, leaver.signal);
    const left = expect(waiting).rejects.toThrow('gone');
    leaver.abort(new Error('gone'));
    await left;
    await expect(take('a', 1, leaver.signal)[0]).rejects.toThrow('gone');
    await endOne('a');
    expect(begun).toEqual(['a']);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is refused at once behind a thousand others of its company, and no other is', async () => {
    const { take, begun } = setup(8);
    take('other');
    take('greedy', 1_002);
    await expect(take('greedy')[0]).rejects.toMatchObject({ code: 'overloaded' });
    take('quiet');
    await settled();
    expect(begun.at(-1)).toBe('quiet');
  });
});
