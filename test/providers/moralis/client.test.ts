import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CallerGoneError, inScope } from '../../../src/base/request-scope.ts';
import { createOutgoing } from '../../../src/outgoing/outgoing.ts';
import {
  createMoralisClient,
  type MoralisClient,
  type MoralisClientOptions,
} from '../../../src/providers/moralis/client.ts';
import { UpstreamFault } from '../../../src/providers/moralis/upstream-fault.ts';
import { type Mishap, type MoralisServer, startMoralisServer } from '../../support/moralis-server.ts';
import { fakeClock } from './fake-clock.ts';

const address = `0x${'ab'.repeat(20)}`;
const path = `/wallets/${address}/history`;

let server: MoralisServer;
// Each test has a server of its own: a request that was given up may arrive after its test.
beforeEach(async () => {
  server = await startMoralisServer({ histories: {}, nfts: {} });
});
afterEach(() => server.close());

const clientOf = (changes: Partial<MoralisClientOptions> = {}) => {
  const { baseUrl, apiKey } = server;
  const limits = { timeoutMs: 10_000, deadlineMs: 20_000, concurrency: 4 };
  const base = { baseUrl, apiKey, ...limits, outgoing: createOutgoing(), random: () => 0.5 };
  return createMoralisClient({ ...base, ...changes });
};
const ask = (client: MoralisClient) => client.get(path, { chain: '0x1' });
/** How the client fails. Neither the key nor the answer is in any fault: it goes to the log. */
const faultOf = async (client: MoralisClient): Promise<UpstreamFault> => {
  const fault: unknown = await ask(client).catch((error: unknown) => error);
  if (!(fault instanceof UpstreamFault)) throw new Error('the client did not fail as it should');
  const { stack, message, cause } = fault;
  expect(JSON.stringify({ stack, message, fault, cause: String(cause) })).not.toMatch(
    /moralis-account-key|business|<html>/,
  );
  return fault;
};

describe('a request', () => {
  test('carries the key of the account and asks for the hex chain id', async () => {
    await ask(clientOf({ baseUrl: `${server.baseUrl}/` }));
    const [asked] = server.asked;
    expect(asked).toMatchObject({ path: `/api/v2.2${path}`, query: { chain: '0x1' } });
    expect(asked?.headers).toMatchObject({ 'x-api-key': server.apiKey, accept: 'application/json' });
  });

  test('of a company waits for none of the many that another one asks', async () => {
    server.meet({ afterMs: 20 });
    const client = clientOf({ concurrency: 4 });
    const done: string[] = [];
    const { signal } = new AbortController();
    const askFor = async (tenant: string) => {
      await inScope({ tenant, signal, isRead: true }, () => ask(client));
      done.push(tenant);
    };
    await Promise.all([...Array.from({ length: 20 }, () => askFor('much')), askFor('little')]);
    expect(done).toHaveLength(21);
    // One of the four places is left to it.
    expect(done.indexOf('little')).toBeLessThan(10);
  });

  test('does not wait for a place beyond its deadline', async () => {
    server.meet('hang');
    const client = clientOf({ concurrency: 1, deadlineMs: 150 });
    const faults = await Promise.all([faultOf(client), faultOf(client), faultOf(client)]);
    const [first, ...others] = faults.map(({ reason }) => reason);
    expect(first).toBe('timeout');
    // Whether the place came free just before the deadline or not.
    for (const reason of others) expect(['timeout', 'busy']).toContain(reason);
  });
});

describe('what passes is tried again', () => {
  const passing: Mishap[] = [429, 500, 503, 'reset', 'half'];

  test.each(passing)('after %s, and the second answer counts', async (mishap) => {
    const clock = fakeClock();
    server.meet(mishap, 'none');
    await expect(ask(clientOf({ clock }))).resolves.toMatchObject({ result: [] });
    expect(server.asked).toHaveLength(2);
    expect(clock.waits).toEqual([250]);
  });

  test('after a timeout, and the second answer counts', async () => {
    server.meet('hang', 'none');
    await expect(ask(clientOf({ timeoutMs: 100, clock: fakeClock() }))).resolves.toMatchObject({
      result: [],
    });
  });

  test.each([500, 'reset', 'half'] as const)(
    'after %s four times at most, with pauses that grow',
    async (mishap) => {
      const clock = fakeClock();
      server.meet(mishap);
      await faultOf(clientOf({ clock }));
      expect(server.asked).toHaveLength(4);
      expect(clock.waits).toEqual([250, 500, 1_000]);
    },
  );

  test('after pauses of chance, so that many callers do not come back at once', async () => {
    const clock = fakeClock();
    server.meet(500);
    await faultOf(clientOf({ clock, random: () => 0.01 }));
    expect(clock.waits).toEqual([5, 10, 20]);
  });

  test('never beyond the deadline', async () => {
    server.meet(500);
    const clock = fakeClock();
    await faultOf(clientOf({ clock, timeoutMs: 100, deadlineMs: 400 }));
    expect(clock.waits).toEqual([250]);
    expect(server.asked).toHaveLength(2);
  });
});

describe('an upstream that only fails', () => {
  test('is not asked for a while, and the fault says for how long', async () => {
    let now = 1_000_000;
    const client = clientOf({ clock: fakeClock(), outgoing: createOutgoing({ now: () => now }) });
    server.meet(500);
    await faultOf(client);
    now += 2_000;
    expect((await faultOf(client)).reason).toBe('shut');
    server.forget();
    const fault = await faultOf(client);
    expect(fault).toMatchObject({ reason: 'shut', isPassing: false, retryAfterMs: 1_000 });
    expect(fault.message).toMatch(
      /^not asked: the circuit breaker of upstream http:\/\/127\.0\.0\.1:\d+\/\[redacted\] is open/,
    );
    expect(server.asked).toEqual([]);
    now += 1_000;
    await expect(ask(client)).resolves.toMatchObject({ result: [] });
  });
});

test('silence up to the deadline counts against the upstream', async () => {
  let now = 1_000_000;
  const outgoing = createOutgoing({ now: () => now });
  const client = clientOf({ timeoutMs: 150, deadlineMs: 150, outgoing });
  server.meet('hang');
  expect((await faultOf(client)).reason).toBe('timeout');
  now += 2_000;
  expect((await faultOf(client)).reason).toBe('timeout');
  expect((await faultOf(client)).reason).toBe('shut');
});

test('a request that its caller left is not sent, nor tried again', async () => {
  const client = clientOf({ concurrency: 1 });
  const end = new AbortController();
  const scoped = () => inScope({ signal: end.signal, isRead: true }, () => ask(client));
  server.meet('hang');
  const calls = [scoped(), scoped()];
  await expect.poll(() => server.asked).toHaveLength(1);
  end.abort(new CallerGoneError());
  for (const call of calls) await expect(call).rejects.toThrow(CallerGoneError);
  server.forget();
  await expect(ask(client)).resolves.toMatchObject({ result: [] });
  expect(server.asked).toHaveLength(1);
});

describe('what does not pass is not tried again', () => {
  test.each([
    [400, 'HTTP status 400'],
    [401, 'HTTP status 401'],
    [404, 'HTTP status 404'],
    ['redirect', 'HTTP status 307'],
    ['truncated', 'the answer is not JSON'],
    ['html', 'the answer is not JSON'],
    ['oversized', 'the answer is over 16777216 bytes'],
    ['gzip bomb', 'the answer is over 16777216 bytes'],
  ] as const)('%s', async (mishap, message) => {
    server.meet(mishap);
    const fault = await faultOf(clientOf());
    expect([fault.message, fault.isPassing]).toEqual([message, false]);
    expect(server.asked).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  test.each([
    ['seconds', 429, '7', 7_250],
    ['a date', 429, new Date(fakeClock().date() + 7_000).toUTCString(), 7_250],
    ['seconds after a 503', 503, '3', 3_250],
    ['no sense: it is none', 429, 'soon', 250],
  ])('is waited for: %s', async (_form, status, retryAfter, waited) => {
    const clock = fakeClock();
    server.meet({ status, retryAfter }, 'none');
    await ask(clientOf({ clock }));
    expect(clock.waits).toEqual([waited]);
  });

  test('is not waited for when it ends after the deadline', async () => {
    const clock = fakeClock();
    server.meet({ status: 429, retryAfter: '60' }, 'none');
    expect((await faultOf(clientOf({ clock }))).reason).toBe('limited');
    expect(clock.waits).toEqual([]);
    expect(server.asked).toHaveLength(1);
  });

  test('silences the whole account until then, and not longer', async () => {
    const clock = fakeClock();
    const client = clientOf({ clock });
    server.meet({ status: 429, retryAfter: '60' }, 'none');
    await faultOf(client);
    expect((await faultOf(client)).reason).toBe('silenced');
    expect(server.asked).toHaveLength(1);
    clock.advance(45_000);
    await expect(ask(client)).resolves.toMatchObject({ result: [] });
    expect(clock.waits).toEqual([15_250]);
  });

  test('silences no longer when the calendar is set back', async () => {
    const clock = fakeClock();
    const client = clientOf({ clock });
    server.meet({ status: 429, retryAfter: '60' }, 'none');
    await faultOf(client);
    clock.setBack(3_600_000);
    clock.advance(61_000);
    await expect(ask(client)).resolves.toMatchObject({ result: [] });
  });

  test('silences for five minutes at most, should it be a mistake', async () => {
    const clock = fakeClock();
    const client = clientOf({ clock });
    server.meet({ status: 429, retryAfter: '999999999' }, 'none');
    await faultOf(client);
    clock.advance(5 * 60_000);
    await expect(ask(client)).resolves.toMatchObject({ result: [] });
  });
});
