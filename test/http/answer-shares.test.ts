import { describe, expect, test, vi } from 'vitest';
import { createAnswerShares, type EndShare } from '../../src/http/dispatch/answer-shares.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const kB = 1024;

function setup() {
  const shares = createAnswerShares();
  const ends: EndShare[] = [];
  /** Asks for shares; what ends those that have begun is in `ends`. */
  const take = (tenant: string, what: string, count = 1, signal = never) =>
    Array.from({ length: count }, () => {
      const taken = (async () => ends.push(await shares.take(tenant, what, { signal })))();
      // Most tests leave some waiting.
      taken.catch(() => {});
      return taken;
    });
  const endAll = async (bytes: number) => {
    for (const end of ends.splice(0)) end(bytes);
    await settled();
  };
  /** Lets the shares know how large answers are. */
  const teach = async (tenant: string, what: string, bytes: number) => {
    await Promise.all(take(tenant, what));
    await endAll(bytes);
  };
  return { shares, take, ends, endAll, teach };
}

describe('answers in the making', () => {
  test('are many at once where they are small', async () => {
    const { take, teach, ends } = setup();
    await teach('a', 'getBalance', kB);
    await teach('a', 'getBalance', kB);
    for (let n = 0; n < 4; n += 1) await teach('a', 'getBalance', kB);
    take('a', 'getBalance', 200);
    await settled();
    expect(ends).toHaveLength(200);
  });

  test('are one after the other where they are large, whatever a tenant asks at once', async () => {
    const { take, teach, ends, endAll } = setup();
    await teach('greedy', 'listEvents', 300 * kB);
    take('greedy', 'listEvents', 3);
    await settled();
    expect(ends).toHaveLength(1);
    await endAll(300 * kB);
    expect(ends).toHaveLength(1);
    await endAll(300 * kB);
    expect(ends).toHaveLength(1);
  });

  test('leave three quarters of the time to others who ask, too', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { take, teach, ends, endAll } = setup();
      await teach('greedy', 'listEvents', 300 * kB);
      take('greedy', 'listEvents', 3);
      take('other', 'getEvent');
      await settled();
      ends.pop()?.(kB);
      await vi.advanceTimersByTimeAsync(30);
      await endAll(300 * kB);
      // Whoever comes now waits as those who wait already.
      take('greedy', 'listEvents');
      await vi.advanceTimersByTimeAsync(89);
      expect(ends).toHaveLength(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(ends).toHaveLength(1);
      // Nobody else has asked for a second.
      await vi.advanceTimersByTimeAsync(1_000);
      await endAll(300 * kB);
      expect(ends).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('of many usual pages come one by one while others ask, and leave them three quarters', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { take, teach, ends, endAll } = setup();
      await teach('greedy', 'listNfts', 15 * kB);
      await teach('greedy', 'listNfts', 15 * kB);
      await teach('other', 'getEvent', kB);
      take('greedy', 'listNfts', 3);
      await settled();
      expect(ends).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(10);
      await endAll(15 * kB);
      await vi.advanceTimersByTimeAsync(29);
      expect(ends).toHaveLength(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(ends).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('of usual pages are as many as fit where a tenant is alone', async () => {
    const { take, teach, ends } = setup();
    for (let n = 0; n < 4; n += 1) await teach('alone', 'listNfts', 15 * kB);
    take('alone', 'listNfts', 20);
    await settled();
    expect(ends.length).toBeGreaterThan(10);
  });

  test('of usual pages need no rest where a tenant asks for one after the other', async () => {
    const { take, teach, ends } = setup();
    await teach('modest', 'listNfts', 15 * kB);
    await teach('other', 'listNfts', 15 * kB);
    for (let n = 0; n < 4; n += 1) {
      take('modest', 'listNfts');
      await settled();
      expect(ends).toHaveLength(1);
      ends.pop()?.(15 * kB);
    }
  });

  test('are not held to be large before one was made', async () => {
    const { take, teach, ends } = setup();
    await teach('other', 'getEvent', kB);
    take('a', 'mintNft', 8);
    await settled();
    expect(ends).toHaveLength(8);
  });

  test('are as large as the last one of anybody, and fewer at once while nothing is known', async () => {
    const { take, teach, ends, endAll } = setup();
    take('a', 'listRwas', 20);
    await settled();
    expect(ends).toHaveLength(8);
    await endAll(100);
    expect(ends).toHaveLength(12);
    await endAll(100);
    await teach('a', 'listEvents', 130 * kB);
    take('b', 'listEvents', 3);
    await settled();
    expect(ends).toHaveLength(1);
  });

  test('make room for others as soon as one waits for somebody outside', async () => {
    const { take, teach, ends } = setup();
    await teach('a', 'getWalletHistory', 300 * kB);
    take('a', 'getWalletHistory', 3);
    await settled();
    expect(ends).toHaveLength(1);
    ends.pop()?.(undefined);
    await settled();
    expect(ends).toHaveLength(1);
  });

  test('wait without keeping anybody else waiting', async () => {
    const { take, teach, ends } = setup();
    await teach('greedy', 'listEvents', 300 * kB);
    take('greedy', 'listEvents', 50);
    for (const tenant of ['b', 'c', 'd']) take(tenant, 'listRwas');
    await settled();
    expect(ends).toHaveLength(4);
  });
});

describe('whoever waits', () => {
  test('leaves with its request', async () => {
    const { take, teach, ends, endAll } = setup();
    await teach('a', 'listEvents', 300 * kB);
    const gone = new AbortController();
    const [, second] = take('a', 'listEvents', 2, gone.signal);
    gone.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    await endAll(300 * kB);
    expect(ends).toHaveLength(0);
  });

  test('is refused after five seconds, but never in the middle of an answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { shares, take, teach } = setup();
      await teach('a', 'listEvents', 300 * kB);
      const [, second] = take('a', 'listEvents', 2);
      const next = vi.fn();
      Promise.resolve(shares.takeNext('a', 'listEvents', never)).then(next);
      const refused = expect(second).rejects.toMatchObject({ code: 'overloaded' });
      await vi.advanceTimersByTimeAsync(60_000);
      await refused;
      expect(next).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  test('is refused at once behind a thousand others', async () => {
    const { shares, take, teach } = setup();
    await teach('a', 'listEvents', 300 * kB);
    take('a', 'listEvents', 1_001);
    await settled();
    expect(() => shares.take('a', 'listEvents', { signal: never })).toThrow('too much to do');
  });
});
