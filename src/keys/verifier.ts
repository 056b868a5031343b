import type { Caller } from '../contract/operation.ts';

/** Whom a key belongs to, or why it is refused. `retryAfterSeconds` is a whole number from 1. */
export type VerifyResult =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly reason: 'invalid' }
  | { readonly ok: false; readonly reason: 'rate_limited'; readonly retryAfterSeconds: number };

/** Turns an API key into its caller. */
export type KeyVerifier = {
  /**
   * A key that is unknown, revoked, expired or malformed is `invalid`; they are not told apart.
   * @throws ProblemError `auth_unavailable` when nobody could say: out of reach, too slow, or nonsense
   */
  verify(key: string): Promise<VerifyResult>;
  close(): Promise<void>;
};
