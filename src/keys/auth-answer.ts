import { z } from 'zod';
import { isScope, type Scope } from '../contract/scopes.ts';
import type { KeyVerdict } from './cached-verifier.ts';

/**
 * Parses an authentication service's response about a key.
 * @param now the current time, in milliseconds since 1970
 * @throws Error unless the response states clearly whether the key is valid and to which company it belongs
 */
export type ReadAnswer = (body: unknown, now: number) => KeyVerdict;

/** An id that another service assigned. It is stored and compared, so it must be text that PostgreSQL accepts. */
export const foreignId = z
  .string()
  .max(255)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must be printable text');

/** The id of a company; null when it is absent, null or empty. */
export const foreignCompany = z
  .union([foreignId, z.literal('')])
  .nullish()
  .transform((id) => id || null);

/** The verdict on a key that the service calls invalid. */
export const invalidKey: KeyVerdict = {
  result: { ok: false, reason: 'invalid' },
  validSeconds: Number.POSITIVE_INFINITY,
};

/**
 * The verdict on a valid key that is over its rate limit.
 * @param waitSeconds is rounded up, to between one second and one day
 */
export function limited(waitSeconds: number): KeyVerdict {
  const retryAfterSeconds = Math.min(Math.max(Math.ceil(waitSeconds), 1), 86_400);
  return {
    result: { ok: false, reason: 'rate_limited', retryAfterSeconds },
    validSeconds: retryAfterSeconds,
  };
}

/**
 * The scopes of a key by its permissions at the service. A key without any may do everything, as before there were
 * scopes. A key with permissions is limited to those among them which are scopes. So a key that has only permissions of
 * other services may do nothing.
 */
export function scopesOf(permissions: readonly string[]): readonly Scope[] | null {
  return permissions.length === 0 ? null : permissions.filter(isScope);
}

type AcceptedKey = {
  readonly keyId: string;
  readonly companyId: string | null;
  /** Milliseconds since 1970; Infinity when the key never expires. */
  readonly expiresAt: number;
  readonly scopes: readonly Scope[] | null;
};

/**
 * The verdict on a key that the service calls valid. A key that has expired by our clock is rejected nevertheless.
 * @param now the current time, in milliseconds since 1970
 */
export function acceptance({ expiresAt, ...key }: AcceptedKey, now: number): KeyVerdict {
  if (expiresAt <= now) return invalidKey;
  const caller = { ...key, rateLimit: null, eventId: null };
  return { result: { ok: true, caller }, validSeconds: (expiresAt - now) / 1_000 };
}
