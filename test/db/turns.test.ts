import { describe, expect, test, vi } from 'vitest';
import { createTurns, type Turn } from '../../src/db/turns.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

function setup(places = 8) {
  let time = 0;
  const turns = createTurns<string>({ places, overdueMs: 300, now: () => time });
  const begun: string[] = [];
  /** Asks for turns; those that begin are told in `begun`. */
  const take = (tenant: string, count = 1, signal = never) =>
    Array.from({ length: count }, () => {
      const turn = (async () => {
        const given = await turns.take(tenant, true, { signal });
        begun.push(tenant);
        return given;
      })();
      turn.catch(() => {});
      return turn;
    });
  const pass = (ms: number) => {
    time += ms;
  };
  return { take, begun, pass };
}

const endOf = async (turn: Promise<Turn<string>> | undefined) => (await turn)?.end();

describe('turns', () => {
  test('leave something for whoever comes after a tenant that wants all', async () => {
    const { take, begun } = setup();
    take('greedy', 20);
    await settled();
    expect(begun).toHaveLength(4);
    take('second', 20);
    take('third', 20);
    take('fourth');
    await settled();
    const counts = Object.groupBy(begun, (tenant) => tenant);
    expect([counts['second']?.length, counts['third']?.length, counts['fourth']?.length]).toEqual([2, 1, 1]);
  });

  test('go round the tenants when places become free', async () => {
    const { take } = setup(1);
    const order: string[] = [];
    const [first] = take('a');
    const takers = ['a', 'a', 'b', 'b', 'c'].map((tenant) =>
      take(tenant)[0]?.then((turn) => {
        order.push(tenant);
        turn.end();
      }),
    );
    await endOf(first);
    await Promise.all(takers);
    expect(order.slice(0, 3).toSorted()).toEqual(['a', 'b', 'c']);
    expect(order).toHaveLength(5);
  });

  test('hand what they had on to whoever is next, once', async () => {
    const { take } = setup(1);
    const [first] = take('a');
    const [second, third] = [take('b')[0], take('c')[0]];
    expect((await first)?.handed).toBeUndefined();
    expect((await first)?.end('a connection')).toBe(true);
    expect((await first)?.end('another')).toBe(false);
    expect((await second)?.handed).toBe('a connection');
    expect((await second)?.end()).toBe(false);
    expect((await third)?.handed).toBeUndefined();
    expect((await third)?.end('a connection')).toBe(false);
  });

  test('are fewer for a tenant whose turns take long', async () => {
    const { take, begun, pass } = setup();
    const first = take('slow', 20);
    await settled();
    pass(101);
    await endOf(first[0]);
    await endOf(first[1]);
    await settled();
    // Two of the first four are left, and no further one has begun.
    expect(begun).toHaveLength(4);
    await endOf(first[2]);
    await settled();
    expect(begun).toHaveLength(5);
  });

  test('are refused at once to a tenant that has waited too long, and to no other', async () => {
    const { take, pass, begun } = setup();
    take('busy', 5);
    pass(301);
    await expect(take('busy')[0]).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    take('quiet');
    await settled();
    expect(begun.at(-1)).toBe('quiet');
  });

  test('are not waited for when the caller has gone', async () => {
    const { take, begun } = setup(1);
    const [present] = take('a');
    const leaver = new AbortController();
    const [waiting] = take('a', 1, leaver.signal);
    leaver.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(take('a', 1, leaver.signal)[0]).rejects.toThrow('gone');
    await endOf(present);
    await settled();
    expect(begun).toEqual(['a']);
  });

  test('are waited for some five seconds', async () => {
    vi.useFakeTimers();
    try {
      const { take, pass } = setup(1);
      take('a');
      const [waiting] = take('a');
      const refused = expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
      pass(5_000);
      await vi.advanceTimersByTimeAsync(250);
      await refused;
    } finally {
      vi.useRealTimers();
    }
  });
});
