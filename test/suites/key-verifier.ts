import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ProblemError } from '../../src/base/errors.ts';
import type { Scope } from '../../src/contract/scopes.ts';
import type { KeyVerifier, VerifyResult } from '../../src/keys/verifier.ts';
import type { Gate } from '../keys/tcp-gate.ts';
import { waitFor } from '../support/wait-for.ts';

export type IssuedKey = { readonly key: string; readonly id: string; readonly companyId: string | null };

/** What the suite needs of the service behind a verifier: the power to issue keys and to fail. */
export type KeyService = {
  /** A verifier with an empty cache that reaches its service through the gate and waits 2.5 s for it. */
  verifier(options: { cacheSeconds: number }): Promise<KeyVerifier>;
  issue(options: { company: boolean }): Promise<IssuedKey>;
  /** A key that this very service lets in once and then refuses for having been used too much. */
  issueLimited?: { rate(): Promise<IssuedKey>; usage(): Promise<IssuedKey> };
  revoke(key: IssuedKey): Promise<void>;
  /** Limits a key to scopes, by the own means of this service; null takes the limit away. */
  limit(key: IssuedKey, scopes: readonly Scope[] | null): Promise<void>;
  /** Lets a key end that many milliseconds from now, or before now. */
  expire(key: IssuedKey, inMs: number): Promise<void>;
  /** In the form of a real key, but never issued. */
  readonly unknownKey: string;
  readonly malformedKeys: readonly string[];
  readonly gate: Gate;
  close(): Promise<void>;
};

export const waitMs = 2_500;
const invalid: VerifyResult = { ok: false, reason: 'invalid' };

const admitted = ({ id, companyId }: IssuedKey) => ({
  ok: true as const,
  caller: { keyId: id, companyId, rateLimit: null, scopes: null, eventId: null },
});

/** The one suite that every verifier passes. */
export function describeKeyVerifier(name: string, start: () => Promise<KeyService>): void {
  describe(`the ${name} verifier`, () => {
    const running: Running = { open: [] };
    beforeAll(async () => {
      running.service = await start();
    });
    afterEach(async () => {
      vi.useRealTimers();
      for (const verifier of running.open.splice(0)) await verifier.close();
      serviceOf(running).gate.open();
    });
    afterAll(() => running.service?.close());

    describeAnswers(running);
    describeLimits(running);
    describeOutages(running);
    describeCache(running);
  });
}

type Running = { service?: KeyService; readonly open: KeyVerifier[] };

function serviceOf({ service }: Running): KeyService {
  if (service === undefined) throw new Error('the service did not start');
  return service;
}

async function openVerifier(running: Running, cacheSeconds = 10): Promise<KeyVerifier> {
  const verifier = await serviceOf(running).verifier({ cacheSeconds });
  running.open.push(verifier);
  return verifier;
}

function describeAnswers(running: Running): void {
  test('admits a valid key as its company', async () => {
    const verifier = await openVerifier(running);
    const issued = await serviceOf(running).issue({ company: true });
    expect(issued.companyId).not.toBeNull();
    expect(await verifier.verify(issued.key)).toEqual(admitted(issued));
  });

  test('admits a valid key without a company as nobody', async () => {
    const verifier = await openVerifier(running);
    const issued = await serviceOf(running).issue({ company: false });
    expect(await verifier.verify(issued.key)).toEqual(admitted({ ...issued, companyId: null }));
  });

  test('admits a key with scopes as one that is limited to them', async () => {
    const service = serviceOf(running);
    const issued = await service.issue({ company: true });
    await service.limit(issued, ['events:read', 'rwa:mint']);
    const verifier = await openVerifier(running);
    const { caller } = admitted(issued);
    expect(await verifier.verify(issued.key)).toEqual({
      ok: true,
      caller: { ...caller, scopes: ['events:read', 'rwa:mint'] },
    });
  });

  test('refuses an unknown key', async () => {
    const verifier = await openVerifier(running);
    expect(await verifier.verify(serviceOf(running).unknownKey)).toEqual(invalid);
  });

  test('refuses a revoked key', async () => {
    const service = serviceOf(running);
    const issued = await service.issue({ company: true });
    await service.revoke(issued);
    const verifier = await openVerifier(running);
    expect(await verifier.verify(issued.key)).toEqual(invalid);
  });

  test('refuses an expired key', async () => {
    const service = serviceOf(running);
    const issued = await service.issue({ company: true });
    await service.expire(issued, -1_000);
    const verifier = await openVerifier(running);
    expect(await verifier.verify(issued.key)).toEqual(invalid);
  });

  test('refuses a malformed key without asking anyone', async () => {
    const service = serviceOf(running);
    const verifier = await openVerifier(running);
    service.gate.refuse();
    for (const key of service.malformedKeys) expect(await verifier.verify(key)).toEqual(invalid);
  });
}

function describeLimits(running: Running): void {
  test.each(['rate', 'usage'] as const)('tells how long to wait at a %s limit', async (kind) => {
    const issue = serviceOf(running).issueLimited?.[kind];
    // The own key store leaves limits to the service's limiter: nothing to tell.
    if (issue === undefined) return;
    const issued = await issue();
    const verifier = await openVerifier(running, 0);
    expect(await verifier.verify(issued.key)).toEqual(admitted(issued));
    const refused = await verifier.verify(issued.key);
    expect(refused).toMatchObject({ ok: false, reason: 'rate_limited' });
    const seconds = 'retryAfterSeconds' in refused ? refused.retryAfterSeconds : Number.NaN;
    expect(Number.isInteger(seconds)).toBe(true);
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
  });
}

function describeOutages(running: Running): void {
  test.each([
    ['is out of reach', (gate: Gate) => gate.refuse()],
    ['does not answer', (gate: Gate) => gate.freeze()],
    ['answers nonsense', (gate: Gate) => gate.babble()],
  ])('lets nobody in and blames nobody while the service %s', async (_what, disturb) => {
    const service = serviceOf(running);
    const issued = await service.issue({ company: true });
    const verifier = await openVerifier(running);
    disturb(service.gate);
    const startedAt = Date.now();
    const outcomes = await Promise.allSettled(
      [issued.key, service.unknownKey].map((key) => verifier.verify(key)),
    );
    expect(Date.now() - startedAt).toBeLessThan(waitMs + 2_000);
    for (const outcome of outcomes) expectUnavailable(outcome);
    service.gate.open();
    await waitFor(async () => expect(await verifier.verify(issued.key)).toEqual(admitted(issued)));
  });
}

export function expectUnavailable(outcome: PromiseSettledResult<unknown>): void {
  expect(outcome.status).toBe('rejected');
  const error: unknown = 'reason' in outcome ? outcome.reason : undefined;
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ code: 'auth_unavailable', status: 503, retryable: true });
  expect(error).toHaveProperty('headers.Retry-After', expect.stringMatching(/^[1-9]\d*$/));
}

// How all of them remember keys, the tests of the cached verifier say.
function describeCache(running: Running): void {
  test('refuses a revoked key within 10 seconds', async () => {
    const service = serviceOf(running);
    const issued = await service.issue({ company: true });
    const verifier = await openVerifier(running);
    vi.useFakeTimers({ toFake: ['Date'] });
    expect(await verifier.verify(issued.key)).toEqual(admitted(issued));
    await service.revoke(issued);
    vi.setSystemTime(Date.now() + 10_000);
    expect(await verifier.verify(issued.key)).toEqual(invalid);
  });

  test('does not remember a key past its expiry', async () => {
    const service = serviceOf(running);
    const issued = await service.issue({ company: true });
    const verifier = await openVerifier(running);
    await service.expire(issued, 1_200);
    const expiresAt = Date.now() + 1_200;
    expect(await verifier.verify(issued.key)).toEqual(admitted(issued));
    await waitFor(async () => expect(await verifier.verify(issued.key)).toEqual(invalid));
    expect(Date.now() - expiresAt).toBeLessThan(1_000);
  });
}
