import type { Caller } from '../contract/operation.ts';

/** The caller that a key belongs to, or why the key is rejected. `retryAfterSeconds` is an integer of at least 1. */
export type VerifyResult =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly reason: 'invalid' }
  | { readonly ok: false; readonly reason: 'rate_limited'; readonly retryAfterSeconds: number };

export type VerifyOptions = {
  /** Accepts only keys that are known to be valid, without a query; any other key is `rate_limited`. */
  readonly cachedOnly?: boolean;
  /** Where the key comes from: verifications for one network leave room for other networks. */
  readonly network?: string;
};

export type KeyVerifier = {
  /**
   * Verifies a key. Unknown, revoked, expired and malformed keys are all `invalid`, without distinction.
   * @throws ProblemError `auth_unavailable` when the source of keys is unreachable, too slow, or gives no usable answer
   */
  verify(key: string, options?: VerifyOptions): Promise<VerifyResult>;
  /** The caller of a key that was verified a moment ago, without waiting; undefined where that has to be asked. */
  known?(key: string): Caller | undefined;
  /** Whether a key was accepted some minutes ago: a hint of whom to listen to, which lets nobody in. */
  isFamiliar?(key: string): boolean;
  close(): Promise<void>;
};
