import { describe, expect, test } from 'vitest';
import { readBetterAuthAnswer } from '../../src/keys/better-auth-answer.ts';
import { readUnkeyAnswer } from '../../src/keys/unkey-answer.ts';
import recorded from './unkey-answers.json' with { type: 'json' };

const now = 1_760_000_000_000;
const later = new Date(now + 60_000).toISOString();
const invalid = { ok: false, reason: 'invalid' };
const limited = (retryAfterSeconds: number) => ({ ok: false, reason: 'rate_limited', retryAfterSeconds });
const caller = (keyId: string, companyId: string | null, scopes: readonly string[] | null = null) => ({
  ok: true,
  caller: { keyId, companyId, rateLimit: null, scopes, eventId: null },
});

describe('an answer of Better Auth', () => {
  const read = (body: unknown) => readBetterAuthAnswer(body, now);
  const valid = (key: unknown) => ({ valid: true, error: null, key });
  const refused = (error: unknown) => ({ valid: false, error, key: null });

  test.each([
    ['its whole key', { id: 'k', referenceId: 'acme', enabled: true, expiresAt: null, name: 'x' }, 'acme'],
    ['only the two fields', { id: 'k', referenceId: 'acme' }, 'acme'],
    ['no reference', { id: 'k' }, null],
    ['a null reference', { id: 'k', referenceId: null }, null],
    ['an empty reference', { id: 'k', referenceId: '' }, null],
  ])('admits a valid key told with %s', (_what, key, companyId) => {
    expect(read(valid(key)).result).toEqual(caller('k', companyId));
  });

  test.each([
    ['no permissions: everything', undefined, null],
    ['null permissions: everything', null, null],
    [
      'scopes',
      { events: ['read', 'write'], secrets: ['read'] },
      ['events:read', 'events:write', 'secrets:read'],
    ],
    ['scopes among others', { events: ['read', 'burn'], files: ['read'] }, ['events:read']],
    ['others only: nothing', { files: ['read'] }, []],
    ['no action: nothing', { events: [] }, []],
    ['no resource: nothing', {}, []],
  ])('limits a key with %s', (_what, permissions, scopes) => {
    expect(read(valid({ id: 'k', permissions })).result).toEqual(caller('k', null, scopes));
  });

  test('tells how long the key is valid, and refuses one that is not by our clock', () => {
    expect(read(valid({ id: 'k', expiresAt: later })).validSeconds).toBe(60);
    expect(read(valid({ id: 'k' })).validSeconds).toBe(Number.POSITIVE_INFINITY);
    expect(read(valid({ id: 'k', expiresAt: new Date(now).toISOString() })).result).toEqual(invalid);
  });

  test.each([
    [{ code: 'RATE_LIMITED', details: { tryAgainIn: 1_200 } }, 2],
    [{ code: 'RATE_LIMITED', details: { tryAgainIn: 0 } }, 1],
    [{ code: 'RATE_LIMITED', details: { tryAgainIn: 1e12 } }, 86_400],
    [{ code: 'RATE_LIMITED', details: 'soon' }, 60],
    [{ code: 'RATE_LIMIT_EXCEEDED' }, 60],
    [{ code: 'USAGE_EXCEEDED', message: 'API Key has reached its usage limit' }, 60],
  ])('makes a limit of %j', (error, seconds) => {
    expect(read(refused(error)).result).toEqual(limited(seconds));
  });

  test.each([
    { code: 'KEY_DISABLED', message: 'API Key is disabled' },
    { code: 'KEY_EXPIRED' },
    { code: 'KEY_NOT_FOUND', message: { code: 'INVALID_API_KEY', message: 'Invalid API key.' } },
    { code: 'INVALID_API_KEY', message: 'Invalid API key.' },
    { code: 'INVALID_API_KEY' },
    { code: 'SOMETHING_NEW' },
    {},
    null,
    undefined,
  ])('refuses the key at %j', (error) => {
    expect(read(refused(error)).result).toEqual(invalid);
  });

  test.each([
    null,
    [],
    'true',
    {},
    { valid: 'true', key: { id: 'k' } },
    { valid: 1, key: { id: 'k' } },
    { valid: true },
    valid(null),
    valid({}),
    valid({ id: 7 }),
    valid({ id: '' }),
    valid({ id: 'k', referenceId: 7 }),
    valid({ id: 'k', referenceId: ['acme'] }),
    valid({ id: 'k', referenceId: 'a\u0000b' }),
    valid({ id: 'k', referenceId: 'x'.repeat(256) }),
    valid({ id: 'k', enabled: false }),
    valid({ id: 'k', expiresAt: 'tomorrow' }),
    valid({ id: 'k', permissions: 'events:read' }),
    valid({ id: 'k', permissions: ['events:read'] }),
    valid({ id: 'k', permissions: { events: 'read' } }),
    valid({ id: 'k', permissions: { events: [7] } }),
    { ...valid({ id: 'k' }), error: { code: 'KEY_DISABLED' } },
    refused('no'),
    refused({ code: 401 }),
    refused({ code: 'INVALID_API_KEY', message: { code: 'INVALID_API_KEY', message: 'Invalid API key.' } }),
  ])('is nonsense as %j', (body) => {
    expect(() => read(body)).toThrow();
  });
});

describe('an answer of Unkey', () => {
  const read = (body: unknown) => readUnkeyAnswer(body, now);
  const data = (fields: object) => ({ meta: { requestId: 'req_1' }, data: fields });

  test('admits a valid key as the identity that it belongs to, until it expires', () => {
    const { result, validSeconds } = read(recorded.VALID);
    expect(result).toEqual(caller('key_1234abcd', 'acme'));
    expect(validSeconds).toBe((4_102_444_800_000 - now) / 1_000);
  });

  test.each([
    ['neither: everything', {}, null],
    ['both empty: everything', { permissions: [], roles: [] }, null],
    ['both null: everything', { permissions: null, roles: null }, null],
    ['permissions', { permissions: ['events:read', 'rwa:mint'] }, ['events:read', 'rwa:mint']],
    ['a role of that name', { permissions: [], roles: ['events:read'] }, ['events:read']],
    [
      'a role and what it grants',
      { permissions: ['events:read', 'documents.read'], roles: ['shop'] },
      ['events:read'],
    ],
    ['others only: nothing', { permissions: ['documents.read'] }, []],
    ['another role only: nothing', { roles: ['editor'] }, []],
  ])('limits a key with %s', (_what, fields, scopes) => {
    const body = data({ valid: true, code: 'VALID', keyId: 'k', ...fields });
    expect(read(body).result).toEqual(caller('k', null, scopes));
  });

  test('admits a key without an identity as nobody', () => {
    expect(read(recorded.VALID_WITHOUT_IDENTITY).result).toEqual(caller('key_5678efgh', null));
  });

  test.each(['NOT_FOUND', 'FORBIDDEN', 'INSUFFICIENT_PERMISSIONS', 'DISABLED', 'EXPIRED'] as const)(
    'refuses the key at %s',
    (code) => {
      expect(read(recorded[code]).result).toEqual(invalid);
    },
  );

  test('refuses the key at a code that is not known yet, and one past its expiry by our clock', () => {
    expect(read(data({ valid: false, code: 'SOMETHING_NEW' })).result).toEqual(invalid);
    const stale = data({ valid: true, code: 'VALID', keyId: 'k', expires: now });
    expect(read(stale).result).toEqual(invalid);
  });

  test('makes limits of exhausted credits and exceeded rates', () => {
    expect(read(recorded.USAGE_EXCEEDED).result).toEqual(limited(60));
    expect(read(recorded.INSUFFICIENT_CREDITS).result).toEqual(limited(60));
    expect(read(recorded.RATE_LIMITED).result).toEqual(limited(30));
    const reset = now + 4_500;
    const atTime = data({ valid: false, code: 'RATE_LIMITED', ratelimits: [{ exceeded: true, reset }] });
    expect(read(atTime).result).toEqual(limited(5));
    expect(read(data({ valid: false, code: 'RATE_LIMITED', ratelimits: 'many' })).result).toEqual(
      limited(60),
    );
  });

  test.each([
    null,
    {},
    { data: null },
    recorded.VALID.data,
    data({ valid: 'true', code: 'VALID', keyId: 'k' }),
    data({ valid: true, keyId: 'k' }),
    data({ valid: true, code: 'VALID' }),
    data({ valid: true, code: 'VALID', keyId: '' }),
    data({ valid: true, code: 'EXPIRED', keyId: 'k' }),
    data({ valid: true, code: 'VALID', keyId: 'k', enabled: false }),
    data({ valid: true, code: 'VALID', keyId: 'k', expires: '2030-01-01' }),
    data({ valid: true, code: 'VALID', keyId: 'k', identity: 'acme' }),
    data({ valid: true, code: 'VALID', keyId: 'k', permissions: 'events:read' }),
    data({ valid: true, code: 'VALID', keyId: 'k', permissions: [7] }),
    data({ valid: true, code: 'VALID', keyId: 'k', roles: { shop: true } }),
    data({ valid: true, code: 'VALID', keyId: 'k', identity: { externalId: 7 } }),
    data({ valid: false }),
    data({ valid: false, code: 'VALID' }),
  ])('is nonsense as %j', (body) => {
    expect(() => read(body)).toThrow();
  });
});
