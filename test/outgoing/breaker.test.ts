import { describe, expect, test } from 'vitest';
import { type BreakerState, createBreaker } from '../../src/outgoing/breaker.ts';

const outage = new Error('outage');

function setUp() {
  let now = 1_000_000;
  const states: BreakerState[] = [];
  const breaker = createBreaker({
    isFailure: (error) => error === outage,
    onState: (state) => states.push(state),
    now: () => now,
  });
  const fail = () => breaker.run(() => Promise.reject(outage)).catch(() => {});
  return {
    breaker,
    states,
    fail,
    succeed: () => breaker.run(async () => {}),
    advance(ms: number) {
      now += ms;
    },
    /** Fails until it is open. */
    async open() {
      await fail();
      now += 2_000;
      await fail();
    },
  };
}

describe('a circuit breaker', () => {
  test('opens when only failures came for two seconds, at least two', async () => {
    const { breaker, fail, advance } = setUp();
    await fail();
    await fail();
    advance(1_999);
    await fail();
    expect(breaker.state()).toBe('closed');
    advance(1);
    await fail();
    expect(breaker.state()).toBe('open');
  });

  test('takes two calls that were silent for two seconds for as much', async () => {
    const { breaker, advance } = setUp();
    const silent = Promise.withResolvers<void>();
    const calls = [1, 2].map(() => breaker.run(() => silent.promise).catch(() => {}));
    advance(2_000);
    silent.reject(outage);
    await Promise.all(calls);
    expect(breaker.state()).toBe('open');
  });

  test('counts anew after each success, also for calls that began before it', async () => {
    const { breaker, fail, succeed, advance } = setUp();
    const slow = Promise.withResolvers<void>();
    const begunBefore = breaker.run(() => slow.promise).catch(() => {});
    await fail();
    advance(1_500);
    await succeed();
    advance(1_500);
    await fail();
    slow.reject(outage);
    await begunBefore;
    expect(breaker.state()).toBe('closed');
  });

  test('does not mind a call that ends for another reason, whatever came long ago', async () => {
    const { breaker, fail, advance } = setUp();
    const left = breaker.run(() => Promise.reject(new Error('the caller has gone')));
    await expect(left).rejects.toThrow('gone');
    advance(3_600_000);
    await fail();
    await fail();
    expect(breaker.state()).toBe('closed');
  });

  test('lets one trial through after a pause, and closes when it succeeds', async () => {
    const { breaker, states, succeed, open, advance } = setUp();
    await open();
    expect([breaker.admitsTrial(), breaker.pauseMs()]).toEqual([false, 1_000]);
    advance(1_000);
    expect([breaker.admitsTrial(), breaker.pauseMs()]).toEqual([true, 0]);
    const trial = Promise.withResolvers<void>();
    const made = breaker.run(() => trial.promise);
    expect([breaker.state(), breaker.admitsTrial()]).toEqual(['half_open', false]);
    trial.resolve();
    await made;
    expect(breaker.state()).toBe('closed');
    expect(states).toEqual(['open', 'half_open', 'closed']);
    // As patient as ever.
    await succeed();
    expect(breaker.state()).toBe('closed');
  });

  test('pauses for longer after each trial that fails, up to three seconds', async () => {
    const { breaker, fail, open, advance } = setUp();
    await open();
    const pauses: number[] = [];
    for (let trials = 0; trials < 4; trials += 1) {
      pauses.push(breaker.pauseMs());
      advance(breaker.pauseMs());
      await fail();
    }
    expect(pauses).toEqual([1_000, 2_000, 3_000, 3_000]);
  });

  test.each([-3_600_000, 3_600_000])('pauses as long when the calendar jumps by %i ms', async (jump) => {
    const { breaker, succeed, open, advance } = setUp();
    const real = Date.now;
    await open();
    Date.now = () => real() + jump;
    try {
      expect([breaker.admitsTrial(), breaker.pauseMs()]).toEqual([false, 1_000]);
      advance(1_000);
      await succeed();
      expect(breaker.state()).toBe('closed');
    } finally {
      Date.now = real;
    }
  });
});
