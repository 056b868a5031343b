import { z } from 'zod';
import type { Verdict } from './cached-verifier.ts';

/**
 * Reads one service's answer about a key.
 * @param now the present, in milliseconds since 1970
 * @throws when the answer does not say clearly whether the key is valid and whose it is
 */
export type ReadAnswer = (body: unknown, now: number) => Verdict;

/** An id of another service: it is stored and compared, so it must be text that Postgres takes. */
export const foreignId = z
  .string()
  .max(255)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must be printable text');

/** A company that is absent, null or empty is no company. */
export const foreignCompany = z
  .union([foreignId, z.literal('')])
  .nullish()
  .transform((id) => id || null);

export const refusal: Verdict = {
  result: { ok: false, reason: 'invalid' },
  validSeconds: Number.POSITIVE_INFINITY,
};

/** A refusal of a good key that was used too much; the wait is rounded up and at most a day. */
export function limited(waitSeconds: number): Verdict {
  const retryAfterSeconds = Math.min(Math.max(Math.ceil(waitSeconds), 1), 86_400);
  return {
    result: { ok: false, reason: 'rate_limited', retryAfterSeconds },
    validSeconds: retryAfterSeconds,
  };
}

/**
 * A key that the service calls valid. One whose expiry is past by our clock is refused all the same.
 * @param expiresAt milliseconds since 1970; Infinity when it never expires
 */
export function acceptance(keyId: string, companyId: string | null, expiresAt: number, now: number): Verdict {
  if (expiresAt <= now) return refusal;
  const caller = { keyId, companyId, rateLimit: null };
  return { result: { ok: true, caller }, validSeconds: (expiresAt - now) / 1_000 };
}
