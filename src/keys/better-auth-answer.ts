import { z } from 'zod';
import { acceptance, foreignCompany, foreignId, limited, type ReadAnswer, refusal } from './auth-answer.ts';

// The answer of `verifyApiKey` of Better Auth's API-key plugin (tried with 1.7), sent as it is or cut down to
// `{ valid, error: { code }, key: { id, referenceId } | null }`.
const valid = z.object({
  valid: z.literal(true),
  error: z.null().optional(),
  key: z.object({
    id: foreignId,
    referenceId: foreignCompany,
    enabled: z.literal(true).nullish(),
    expiresAt: z.iso.datetime({ offset: true }).nullish(),
  }),
});

const invalid = z.object({
  valid: z.literal(false),
  error: z
    .object({
      code: z.string().nullish(),
      message: z.unknown().optional(),
      details: z.object({ tryAgainIn: z.number().nonnegative() }).nullish().catch(undefined),
    })
    .nullish(),
});

const answer = z.discriminatedUnion('valid', [valid, invalid]);

// RATE_LIMITED comes with the milliseconds to wait; USAGE_EXCEEDED, whose refill is not told, without.
const limitCodes = new Set(['RATE_LIMITED', 'RATE_LIMIT_EXCEEDED', 'USAGE_EXCEEDED']);
const unknownWaitSeconds = 60;

/** Reads Better Auth's answer; `referenceId` is the company. */
export const readBetterAuthAnswer: ReadAnswer = (body, now) => {
  const read = answer.parse(body);
  if (read.valid) {
    const { id, referenceId, expiresAt } = read.key;
    const expiry = expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY;
    return acceptance(id, referenceId, expiry, now);
  }
  const { code, message, details } = read.error ?? {};
  if (limitCodes.has(code ?? '')) {
    return limited(details ? details.tryAgainIn / 1_000 : unknownWaitSeconds);
  }
  // When its own storage fails the plugin says INVALID_API_KEY too, but with an object for the message. That is
  // an outage: a good key must not be told that it is a bad one.
  if (code === 'INVALID_API_KEY' && typeof message === 'object' && message !== null) {
    throw new Error('the authentication service failed inside');
  }
  return refusal;
};
