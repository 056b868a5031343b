import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCachedVerifier, type KeyVerdict } from '../../src/keys/cached-verifier.ts';
import { hashKey } from '../../src/keys/key-format.ts';
import { expectUnavailable } from '../suites/key-verifier.ts';
import { waitFor } from '../support/wait-for.ts';

const forever = Number.POSITIVE_INFINITY;
const refusal: KeyVerdict = { result: { ok: false, reason: 'invalid' }, validSeconds: forever };
const admit = (key: string, validSeconds = forever): KeyVerdict => ({
  result: {
    ok: true,
    caller: { keyId: key, companyId: 'acme', rateLimit: null, scopes: null, eventId: null },
  },
  validSeconds,
});

const lookUp = vi.fn<(key: string) => Promise<KeyVerdict>>();
const verifier = (
  over: { cacheSeconds?: number; cacheMax?: number; timeoutMs?: number; lookUpsAtOnce?: number } = {},
) =>
  createCachedVerifier({
    isWellFormed: (key) => !key.startsWith('malformed'),
    lookUp,
    cacheSeconds: 10,
    cacheMax: 3,
    timeoutMs: 1_000,
    lookUpsAtOnce: 32,
    ...over,
  });

/** How often the verifier asks when the key is verified at each of these times, in milliseconds. */
async function asksAt(times: number[], over?: Parameters<typeof verifier>[0]): Promise<number> {
  const { verify, close } = verifier(over);
  const begun = performance.now();
  for (const time of times) {
    vi.advanceTimersByTime(begun + time - performance.now());
    await verify('key');
  }
  await close();
  return lookUp.mock.calls.length;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 0 });
  lookUp.mockReset();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a key that was let in', () => {
  test('is asked about again after 9 seconds', async () => {
    lookUp.mockResolvedValue(admit('key'));
    expect(await asksAt([0, 5_000, 9_000])).toBe(1);
    expect(await asksAt([0, 9_001])).toBe(3);
  });

  test('is asked about again after the time of the setting, and always when that is 0', async () => {
    lookUp.mockResolvedValue(admit('key'));
    expect(await asksAt([0, 3_000], { cacheSeconds: 3 })).toBe(1);
    expect(await asksAt([0, 3_001], { cacheSeconds: 3 })).toBe(3);
    expect(await asksAt([0, 0, 0], { cacheSeconds: 0 })).toBe(6);
  });

  test('is asked about again once it has expired', async () => {
    lookUp.mockResolvedValue(admit('key', 1.5));
    expect(await asksAt([0, 1_500])).toBe(1);
    expect(await asksAt([0, 1_501])).toBe(3);
  });

  test('is remembered from the question on, however long the answer took', async () => {
    lookUp.mockImplementation(async () => {
      vi.advanceTimersByTime(4_000);
      return admit('key');
    });
    expect(await asksAt([0, 9_000])).toBe(1);
    expect(await asksAt([0, 9_001])).toBe(3);
  });
});

describe('a refusal', () => {
  test('is remembered for 2 seconds', async () => {
    lookUp.mockResolvedValue(refusal);
    expect(await asksAt([0, 2_000])).toBe(1);
    expect(await asksAt([0, 2_001])).toBe(3);
    expect(await asksAt([0, 0], { cacheSeconds: 0 })).toBe(5);
  });

  test('for a limit is forgotten when the wait is over', async () => {
    const result = { ok: false, reason: 'rate_limited', retryAfterSeconds: 1 } as const;
    lookUp.mockResolvedValue({ result, validSeconds: 1 });
    expect(await asksAt([0, 1_000])).toBe(1);
    expect(await asksAt([0, 1_001])).toBe(3);
  });
});

describe('a flood', () => {
  const flood = (verify: (key: string) => Promise<unknown>, name: string) =>
    Promise.all(Array.from({ length: 500 }, (_, index) => verify(`${name} ${index}`)));

  test('of invented keys does not push out the good ones', async () => {
    lookUp.mockImplementation(async (key) => (key === 'good' ? admit(key) : refusal));
    const { verify } = verifier();
    await verify('good');
    await flood(verify, 'invented');
    lookUp.mockRejectedValue(new Error('is not asked again'));
    expect(await verify('good')).toMatchObject({ ok: true });
  });

  test('of malformed keys neither asks nor pushes out refusals', async () => {
    lookUp.mockResolvedValue(refusal);
    const { verify } = verifier();
    await verify('refused');
    await flood(verify, 'malformed');
    expect(await verify('refused')).toEqual(refusal.result);
    expect(lookUp).toHaveBeenCalledTimes(1);
  });

  test('of good keys pushes out the oldest of them', async () => {
    lookUp.mockImplementation(async (key) => admit(key));
    const { verify } = verifier({ cacheMax: 100 });
    await flood(verify, 'good');
    lookUp.mockClear();
    await verify('good 499');
    await verify('good 400');
    expect(lookUp).not.toHaveBeenCalled();
    await verify('good 399');
    expect(lookUp).toHaveBeenCalledTimes(1);
  });
});

describe('forgetting', () => {
  const hash = hashKey('key').toString('hex');

  test.each([
    ['one key', (verifying: ReturnType<typeof verifier>) => verifying.forget(hash)],
    ['all keys', (verifying: ReturnType<typeof verifier>) => verifying.forgetAll()],
  ])('%s takes effect at once, for what was let in and what was refused', async (_what, forget) => {
    const verifying = verifier();
    lookUp.mockResolvedValue(admit('key'));
    expect(await verifying.verify('key')).toMatchObject({ ok: true });
    lookUp.mockResolvedValue(refusal);
    forget(verifying);
    expect(await verifying.verify('key')).toEqual(refusal.result);
    lookUp.mockResolvedValue(admit('key'));
    forget(verifying);
    expect(await verifying.verify('key')).toMatchObject({ ok: true });
  });

  test('a key during its look-up does not let the old answer be remembered', async () => {
    const verifying = verifier();
    const { promise, resolve } = Promise.withResolvers<KeyVerdict>();
    lookUp.mockReturnValueOnce(promise).mockResolvedValue(refusal);
    const early = verifying.verify('key');
    verifying.forget(hash);
    expect(await verifying.verify('key')).toEqual(refusal.result);
    resolve(admit('key'));
    expect(await early).toMatchObject({ ok: true });
    expect(await verifying.verify('key')).toEqual(refusal.result);
  });

  test('another key changes nothing', async () => {
    const verifying = verifier();
    lookUp.mockResolvedValueOnce(admit('key'));
    await verifying.verify('key');
    verifying.forget(hashKey('other').toString('hex'));
    expect(await verifying.verify('key')).toMatchObject({ ok: true });
  });
});

describe('a look-up', () => {
  test('is shared by all who ask meanwhile', async () => {
    lookUp.mockResolvedValue(admit('key'));
    const { verify } = verifier({ cacheSeconds: 0 });
    await Promise.all(Array.from({ length: 20 }, () => verify('key')));
    expect(lookUp).toHaveBeenCalledTimes(1);
  });

  test('that fails or takes too long is an outage, and is tried again at the next request', async () => {
    const { verify } = verifier({ timeoutMs: 50 });
    lookUp.mockRejectedValueOnce(new Error('connection refused')).mockReturnValueOnce(new Promise(() => {}));
    for (const outcome of await Promise.allSettled([verify('key')])) expectUnavailable(outcome);
    for (const outcome of await Promise.allSettled([verify('key')])) expectUnavailable(outcome);
    lookUp.mockResolvedValue(admit('key'));
    expect(await verify('key')).toMatchObject({ ok: true });
  });
});

describe('look-ups', () => {
  test('of one network leave room for those of others, however many keys it invents', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<KeyVerdict>();
    lookUp.mockReturnValue(answered);
    const { verify, close } = verifier({ cacheMax: 10_000 });
    const invented = Array.from({ length: 1_000 }, (_, index) =>
      verify(`invented ${index}`, { network: 'a' }),
    );
    await waitFor(() => expect(lookUp).toHaveBeenCalledTimes(24));
    lookUp.mockResolvedValue(admit('key'));
    expect(await verify('key', { network: 'b' })).toMatchObject({ ok: true });
    expect(lookUp).toHaveBeenCalledTimes(25);
    lookUp.mockResolvedValue(refusal);
    answer(refusal);
    expect(new Set((await Promise.all(invented)).map(({ ok }) => ok))).toEqual(new Set([false]));
    await close();
  });

  test('that nobody waits for any more keep their places until they end', async () => {
    lookUp.mockReturnValue(new Promise(() => {}));
    const { verify, close } = verifier({ timeoutMs: 10, lookUpsAtOnce: 2 });
    const late = await Promise.allSettled(['a', 'b', 'c'].map((key) => verify(key, { network: key })));
    expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(lookUp).toHaveBeenCalledTimes(2);
    await close();
  });
});

describe('that a key was accepted', () => {
  test('is known for longer than its caller, of so many keys, and no longer when it was changed', async () => {
    lookUp.mockImplementation(async (key) => admit(key));
    const { verify, known, isFamiliar, forget, close } = verifier({ cacheMax: 2 });
    for (const key of ['first', 'second', 'third']) await verify(key);
    vi.advanceTimersByTime(60_000);
    expect(known('third')).toBeUndefined();
    expect(['first', 'second', 'third'].map(isFamiliar)).toEqual([false, true, true]);
    forget(hashKey('third').toString('hex'));
    expect(isFamiliar('third')).toBe(false);
    vi.advanceTimersByTime(540_001);
    expect(isFamiliar('second')).toBe(false);
    await close();
  });
});
