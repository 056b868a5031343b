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

// The response of Unkey's `POST /v2/keys.verifyKey`, which is 200 for valid and for invalid keys.
const valid = z.object({
  valid: z.literal(true),
  code: z.literal('VALID'),
  keyId: foreignId,
  enabled: z.literal(true).nullish(),
  expires: z.number().int().positive().nullish(),
  identity: z.object({ externalId: foreignCompany }).nullish(),
  // Names. `permissions` also has the permissions that roles grant. Both are absent or empty where the key has none.
  permissions: z.array(z.string()).nullish(),
  roles: z.array(z.string()).nullish(),
});

const invalid = z.object({
  valid: z.literal(false),
  // Unkey may add codes; only this one would be a contradiction.
  code: z.string().refine((code) => code !== 'VALID', 'must not be VALID for an invalid key'),
  ratelimits: z
    .array(z.object({ exceeded: z.boolean(), reset: z.number().nonnegative() }))
    .nullish()
    .catch(undefined),
});

const response = z.object({ data: z.discriminatedUnion('valid', [valid, invalid]) });

const limitCodes = new Set(['RATE_LIMITED', 'USAGE_EXCEEDED', 'INSUFFICIENT_CREDITS']);
const unknownWaitSeconds = 60;
// `reset` is documented as a duration of at most 30 days, but sent as milliseconds since 1970.
const longestDurationMs = 2_592_000_000;

/** Parses Unkey's response; `identity.externalId` is the company, and the names of permissions and roles are the scopes. */
export const readUnkeyAnswer: ReadAnswer = (body, now) => {
  const { data } = response.parse(body);
  if (data.valid) {
    const { keyId, identity, expires, permissions, roles } = data;
    const key = {
      keyId,
      companyId: identity?.externalId ?? null,
      expiresAt: expires ?? Number.POSITIVE_INFINITY,
      scopes: scopesOf([...(permissions ?? []), ...(roles ?? [])]),
    };
    return acceptance(key, now);
  }
  if (!limitCodes.has(data.code)) return invalidKey;
  const waits = (data.ratelimits ?? [])
    .filter(({ exceeded }) => exceeded)
    .map(({ reset }) => (reset > longestDurationMs ? reset - now : reset) / 1_000);
  return limited(waits.length > 0 ? Math.max(...waits) : unknownWaitSeconds);
};
