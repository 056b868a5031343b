import { hash as digest } from 'node:crypto';
import { createFlightCache } from '../base/cache/flight-cache.ts';
import { problem } from '../base/errors.ts';
import { untilAborted } from '../base/in-time.ts';
import { currentScope, inScope } from '../base/request-scope.ts';
import { createSemaphore } from '../base/semaphore.ts';
import { OutgoingFault } from '../outgoing/outgoing-fault.ts';
import { hashKey } from './key-format.ts';
import { createRecent } from './recent.ts';
import type { KeyVerifier, VerifyResult } from './verifier.ts';

/** The result of a verification, and for how many seconds it is valid at most; Infinity when it has no known end. */
export type KeyVerdict = { readonly result: VerifyResult; readonly validSeconds: number };

/** The result of a verification, and for how many seconds from now it is cached; 0 or less for not at all. */
type TimedResult = { readonly result: VerifyResult; readonly keepSeconds: number };

type CachedVerifierOptions = {
  /** Checks the form of a key, so that malformed keys neither cost a query nor fill the cache. */
  readonly isWellFormed: (key: string) => boolean;
  /** It is waited for up to `timeoutMs`. Every error that it throws becomes `auth_unavailable`. */
  readonly lookUp: (key: string, hash: Buffer) => Promise<KeyVerdict>;
  readonly cacheSeconds: number;
  /** Accepted keys in the cache at most, and rejected keys likewise. */
  readonly cacheMax: number;
  readonly timeoutMs: number;
  /** Concurrent verifications of keys that were not accepted before; shared among the networks that they come from. */
  readonly lookUpsAtOnce: number;
};

type CachedVerifier = Required<KeyVerifier> & {
  /** Removes one key from the cache. `hash` is its SHA-256 in hexadecimal digits. */
  forget(hash: string): void;
  forgetAll(): void;
};

type Asked = { readonly key: string; readonly hash: Buffer; readonly network: string };

// The published promise: every process rejects a revoked key within 10 seconds. One second of them is for the lookup
// that then rejects it. Requests may join a lookup until its end, so the promise bounds its time too.
const maxAcceptedSeconds = 9;
const maxLookUpMs = 9_000;
const maxRefusedSeconds = 2;
const retryAfterMs = 2_000;
// So long a key that asks now and then is no stranger. By then it may have been revoked, so this lets nobody in.
const familiarMs = 600_000;
// No key is longer, and the hash of a longer text would cost more than it is worth.
const longestKey = 512;
/** The name of a key in the caches: its hash. Undefined where it is longer than any key. */
const nameOf = (key: string) => (key.length > longestKey ? undefined : digest('sha256', key, 'hex'));
const notLookedUp: VerifyResult = { ok: false, reason: 'rate_limited', retryAfterSeconds: 1 };

/**
 * Adds a cache to a verification of keys; all verifiers are built on it. An accepted key is cached for at most 9 s from
 * the start of its verification, and never past its expiry. A rejection is cached for at most 2 s, in a separate cache,
 * so that a flood of invented keys cannot evict accepted keys.
 */
export function createCachedVerifier(options: CachedVerifierOptions): CachedVerifier {
  const accepted = createFlightCache<VerifyResult>({ maxKeys: options.cacheMax });
  const refused = createFlightCache<TimedResult>({ maxKeys: options.cacheMax });
  // By the hash.
  const familiar = createRecent(options.cacheMax, familiarMs);
  const places = createSemaphore({ places: options.lookUpsAtOnce, waitMs: options.timeoutMs });

  /** A verification that nobody waits for any more keeps its place until it ends. */
  const lookUpInTurn = async ({ key, hash, network }: Asked, signal: AbortSignal): Promise<KeyVerdict> => {
    // A key that was accepted before waits for no key that strangers invent.
    if (familiar.has(hash.toString('hex'))) {
      const scope = { isRead: false, ...currentScope(), signal };
      return inScope(scope, () => options.lookUp(key, hash));
    }
    const release = await places.take(network, { signal });
    return options.lookUp(key, hash).finally(release);
  };

  const lookUp = async (asked: Asked): Promise<TimedResult> => {
    const startedAt = performance.now();
    const late = AbortSignal.timeout(Math.min(options.timeoutMs, maxLookUpMs));
    const shared = currentScope()?.signal;
    const signal = shared === undefined ? late : AbortSignal.any([late, shared]);
    const verdict = await untilAborted(lookUpInTurn(asked, signal), signal).catch(unavailable);
    const maxSeconds = verdict.result.ok ? maxAcceptedSeconds : maxRefusedSeconds;
    // Counted from the start: the lookup may have read the key's state at any time since.
    const elapsedSeconds = (performance.now() - startedAt) / 1_000;
    const keepSeconds = Math.min(options.cacheSeconds, maxSeconds, verdict.validSeconds) - elapsedSeconds;
    return { result: verdict.result, keepSeconds };
  };

  const lookUpUnlessRefused = async (cacheKey: string, asked: Asked) => {
    const { result, keepSeconds } = await refused.get(cacheKey, async () => {
      const timed = await lookUp(asked);
      return { value: timed, ttlSeconds: timed.result.ok ? 0 : timed.keepSeconds };
    });
    return { value: result, ttlSeconds: result.ok ? keepSeconds : 0 };
  };

  return {
    async verify(key, { cachedOnly = false, network = '' } = {}) {
      if (!options.isWellFormed(key)) return { ok: false, reason: 'invalid' };
      const hash = hashKey(key);
      const cacheKey = hash.toString('hex');
      if (cachedOnly) return accepted.peek(cacheKey) ?? notLookedUp;
      const result = await accepted.get(cacheKey, () =>
        lookUpUnlessRefused(cacheKey, { key, hash, network }),
      );
      if (result.ok) familiar.note(cacheKey);
      else if (result.reason === 'invalid') familiar.forget(cacheKey);
      return result;
    },
    known(key) {
      const name = nameOf(key);
      const result = name === undefined ? undefined : accepted.peek(name);
      return result?.ok === true ? result.caller : undefined;
    },
    isFamiliar(key) {
      const name = nameOf(key);
      return name !== undefined && familiar.has(name);
    },
    forget(hash) {
      accepted.delete(hash);
      refused.delete(hash);
      familiar.forget(hash);
    },
    forgetAll() {
      accepted.clear();
      refused.clear();
    },
    async close() {
      accepted.close();
      refused.close();
      familiar.clear();
    },
  };
}

function unavailable(cause: unknown): never {
  const known = cause instanceof OutgoingFault ? cause.retryAfterMs : undefined;
  throw problem('auth_unavailable', {}, { retryAfterMs: known ?? retryAfterMs, cause });
}
