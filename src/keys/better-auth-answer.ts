import { z } from 'zod';
import {
  acceptance,
  foreignCompany,
  foreignId,
  invalidKey,
  limited,
  type ReadAnswer,
  scopesOf,
} from './auth-answer.ts';

// The response of `verifyApiKey` of Better Auth's API-key plugin (tested with 1.7), sent as it is or reduced to
// `{ valid, error: { code }, key: { id, referenceId, permissions } | null }`.
const valid = z.object({
  valid: z.literal(true),
  error: z.null().optional(),
  key: z.object({
    id: foreignId,
    referenceId: foreignCompany,
    enabled: z.literal(true).nullish(),
    expiresAt: z.iso.datetime({ offset: true }).nullish(),
    // Actions by resource, such as { events: ['read', 'write'] }.
    permissions: z.record(z.string(), z.array(z.string())).nullish(),
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

const response = z.discriminatedUnion('valid', [valid, invalid]);

// RATE_LIMITED states the milliseconds to wait; USAGE_EXCEEDED does not, as its next refill is unknown.
const limitCodes = new Set(['RATE_LIMITED', 'RATE_LIMIT_EXCEEDED', 'USAGE_EXCEEDED']);
const unknownWaitSeconds = 60;

/** A key without permissions has null. A record without an action permits nothing, so the key may do nothing. */
function scopesBy(permissions: Readonly<Record<string, readonly string[]>> | null | undefined) {
  if (permissions === null || permissions === undefined) return null;
  const named = Object.entries(permissions).flatMap(([resource, actions]) =>
    actions.map((action) => `${resource}:${action}`),
  );
  return scopesOf(named) ?? [];
}

/** Parses Better Auth's response; `referenceId` is the company, `permissions` are the scopes. */
export const readBetterAuthAnswer: ReadAnswer = (body, now) => {
  const read = response.parse(body);
  if (read.valid) {
    const { id, referenceId, expiresAt, permissions } = read.key;
    const expiry = expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY;
    const key = { keyId: id, companyId: referenceId, expiresAt: expiry, scopes: scopesBy(permissions) };
    return acceptance(key, now);
  }
  const { code, message, details } = read.error ?? {};
  if (limitCodes.has(code ?? '')) {
    return limited(details ? details.tryAgainIn / 1_000 : unknownWaitSeconds);
  }
  // When its own storage fails, the plugin also answers INVALID_API_KEY, but with an object as the message. That is
  // an outage: the owner of a valid key must not read that the key is invalid.
  if (code === 'INVALID_API_KEY' && typeof message === 'object' && message !== null) {
    throw new Error('the authentication service failed inside');
  }
  return invalidKey;
};
