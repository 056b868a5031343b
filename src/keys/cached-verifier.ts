import { createFlightCache } from '../cache.ts';
import { problem } from '../errors.ts';
import { hashKey } from './key-format.ts';
import type { KeyVerifier, VerifyResult } from './verifier.ts';

/** What a look-up found, and for how many seconds from then it can hold at most (Infinity: no end known). */
export type Verdict = { readonly result: VerifyResult; readonly validSeconds: number };

type CachedVerifierOptions = {
  /** Refuses by form alone, so that junk neither costs a look-up nor fills the cache. */
  readonly isWellFormed: (key: string) => boolean;
  /** Anything that it throws means that nobody could say. `signal` ends it after `timeoutMs`. */
  readonly lookUp: (key: string, hash: Buffer, signal: AbortSignal) => Promise<Verdict>;
  readonly cacheSeconds: number;
  readonly cacheMax: number;
  readonly timeoutMs: number;
};

type CachedVerifier = KeyVerifier & {
  /** Forgets one key, named by the hexadecimal SHA-256 that it is cached under. */
  forget(hash: string): void;
  forgetAll(): void;
};

// The published promise: a revoked key is refused everywhere within 10 seconds. The second that is left is for
// the look-up that then refuses it. A look-up may be joined until its end, so the promise bounds it too.
const longestKeepSeconds = 9;
const longestLookUpMs = 9_000;
const refusalSeconds = 2;
const retryAfterSeconds = '2';

/**
 * The cache that all verifiers share. Keys that were let in are kept at most 9 s from the moment they were
 * asked about, and never past their expiry; refusals at most 2 s and in a cache of their own, so that a flood
 * of invented keys cannot push out the good ones.
 */
export function createCachedVerifier(options: CachedVerifierOptions): CachedVerifier {
  const accepted = createFlightCache<VerifyResult>({ maxKeys: options.cacheMax });
  const refused = createFlightCache<Answer>({ maxKeys: options.cacheMax });

  const ask = async (key: string, hash: Buffer): Promise<Answer> => {
    const askedAt = Date.now();
    const signal = AbortSignal.timeout(Math.min(options.timeoutMs, longestLookUpMs));
    const verdict = await orAborted(options.lookUp(key, hash, signal), signal).catch(unavailable);
    const most = Math.min(options.cacheSeconds, verdict.result.ok ? longestKeepSeconds : refusalSeconds);
    // The state of the key is as old as the question, not as the answer.
    const spent = (Date.now() - askedAt) / 1_000;
    return { result: verdict.result, keepSeconds: Math.min(most, verdict.validSeconds) - spent };
  };

  const askUnlessRefused = async (slot: string, key: string, hash: Buffer) => {
    const { result, keepSeconds } = await refused.get(slot, async () => {
      const answer = await ask(key, hash);
      return { value: answer, ttlSeconds: answer.result.ok ? 0 : answer.keepSeconds };
    });
    return { value: result, ttlSeconds: result.ok ? keepSeconds : 0 };
  };

  return {
    async verify(key) {
      if (!options.isWellFormed(key)) return { ok: false, reason: 'invalid' };
      const hash = hashKey(key);
      const slot = hash.toString('hex');
      return accepted.get(slot, () => askUnlessRefused(slot, key, hash));
    },
    forget(hash) {
      accepted.delete(hash);
      refused.delete(hash);
    },
    forgetAll() {
      accepted.clear();
      refused.clear();
    },
    async close() {
      accepted.close();
      refused.close();
    },
  };
}

type Answer = { readonly result: VerifyResult; readonly keepSeconds: number };

function unavailable(cause: unknown): never {
  throw problem('auth_unavailable', {}, { headers: { 'Retry-After': retryAfterSeconds }, cause });
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
