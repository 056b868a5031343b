import type { ReadAnswer } from './auth-answer.ts';
import { createAuthClient } from './auth-client.ts';
import { readBetterAuthAnswer } from './better-auth-answer.ts';
import { createCachedVerifier } from './cached-verifier.ts';
import { readUnkeyAnswer } from './unkey-answer.ts';
import type { KeyVerifier } from './verifier.ts';

/** The shape of the service's answers. */
type AuthDialect = 'better-auth' | 'unkey';

const readers: Readonly<Record<AuthDialect, ReadAnswer>> = {
  'better-auth': readBetterAuthAnswer,
  unkey: readUnkeyAnswer,
};

// Keys of other makers have other forms: this leaves out only what no header can carry.
const wellFormed = /^[\x21-\x7e]{1,512}$/;

type RemoteVerifierOptions = {
  readonly url: string;
  /** The service's own credential, sent as a bearer token. */
  readonly credential: string;
  readonly dialect: AuthDialect;
  /** Time for one answer, in milliseconds; over 9000 counts as 9000. */
  readonly timeoutMs: number;
  /** From 0 to 10. Nobody tells of a revocation, so time alone keeps the promise of 10 seconds. */
  readonly cacheSeconds: number;
  readonly cacheMax: number;
};

/**
 * Verifies keys by asking an authentication service. Only a clear and complete answer lets a key in. Limits
 * that the service counts are counted once for each answer, not for each request that the cache serves.
 */
export function createRemoteVerifier(options: RemoteVerifierOptions): KeyVerifier {
  const post = createAuthClient(options);
  const read = readers[options.dialect];
  const { verify, close } = createCachedVerifier({
    isWellFormed: (key) => wellFormed.test(key),
    lookUp: async (key, _hash, signal) => read(await post(key, signal), Date.now()),
    cacheSeconds: options.cacheSeconds,
    cacheMax: options.cacheMax,
    timeoutMs: options.timeoutMs,
  });
  return { verify, close };
}
