import type { Request, Response } from 'express';
import { ProblemError, problem } from '../../base/errors.ts';
import { inTime } from '../../base/in-time.ts';
import type { Caller } from '../../contract/operation.ts';
import { hasScope, type Scope } from '../../contract/scopes.ts';
import type { KeyVerifier, VerifyOptions, VerifyResult } from '../../keys/verifier.ts';
import { callerAddress } from '../server/caller-address.ts';
import { networkOf } from '../server/network-of.ts';
import type { AddressLimit } from './address-limit.ts';
import type { Limiter } from './limits.ts';

export type Gate = {
  /** The caller whose key was accepted moments ago; undefined when it has to be verified. */
  known(request: Request): Caller | undefined;
  /** Whether the key of the request was accepted in the last minutes. It counts as no verification, and costs a hash. */
  isFamiliar(request: Request): boolean;
  /** Identifies the caller by its key. @throws ProblemError 401, 429 or 503 */
  identify(request: Request): Promise<Caller>;
  /** Counts a request that needs no key for its address. @throws ProblemError 429 */
  admitPublic(request: Request): void;
  /**
   * Checks the company, the scope and the rate limit of an identified caller. Waits for nothing where it has no limit.
   * @param scopes of which the operation needs one; null where any key will do
   * @throws ProblemError 403 or 429
   */
  admit(caller: Caller, scopes: readonly Scope[] | null, response: Response): Promise<void> | undefined;
  /**
   * Verifies the key of an admitted request once more, without counting it for the rate limit.
   * @throws ProblemError 401, 403 or 503 where the key is not what it was
   */
  admitAgain(request: Request, caller: Caller, scopes: readonly Scope[] | null): Promise<void>;
};

type GateOptions = {
  readonly verifier: KeyVerifier;
  readonly limiter: Limiter;
  /** Of keys that were rejected or are being verified, by address. */
  readonly refusedKeys: AddressLimit;
  /** Of requests that need no key, by address. */
  readonly publicRequests: AddressLimit;
  /** Whether keys without a company are rejected. */
  readonly isCompanyRequired: boolean;
};

const maxKeyLength = 512;
// Verifiers have their own, shorter timeouts; this one bounds any implementation.
const verifyTimeoutMs = 10_000;

/** Creates the checks that a request passes before its body is read: key, company, scope and rate limit. */
export function createGate({
  verifier,
  limiter,
  refusedKeys,
  publicRequests,
  isCompanyRequired,
}: GateOptions): Gate {
  const checkRights = (caller: Caller, scopes: readonly Scope[] | null) => {
    if (isCompanyRequired && !caller.companyId) throw problem('company_required');
    if (scopes !== null && !scopes.some((scope) => hasScope(caller, scope)))
      throw problem('insufficient_scope', { scope: scopes.join(' or ') });
  };

  const gate: Gate = {
    known(request) {
      const key = request.headers['x-api-key'];
      return typeof key === 'string' ? verifier.known?.(key) : undefined;
    },

    isFamiliar(request) {
      const key = request.headers['x-api-key'];
      return typeof key === 'string' && verifier.isFamiliar?.(key) === true;
    },

    async identify(request) {
      const key = keyOf(request);
      const address = callerAddress(request);
      const blockedSeconds = refusedKeys.blockedSeconds(address, key);
      // A key that was accepted lately is no guess, even while others guess behind the same address.
      const cachedOnly = blockedSeconds !== undefined && verifier.isFamiliar?.(key) !== true;
      const result = await inCount(cachedOnly ? undefined : refusedKeys.begin(address, key), () =>
        verifyInTime(verifier, key, { cachedOnly, network: networkOf(address) }),
      );
      // A malformed result says nothing about the key, so it must count neither as a rejection nor as an acceptance.
      if (result?.ok === true && typeof result.caller?.keyId === 'string') return result.caller;
      if (result?.ok !== false) throw unavailable(new Error('the key verifier gave no usable answer'));
      if (result.reason === 'invalid') throw problem('api_key_invalid');
      const seconds = String(Math.max(1, Math.ceil(blockedSeconds ?? result.retryAfterSeconds)));
      throw problem('rate_limited', {}, { headers: { 'Retry-After': seconds } });
    },

    admitPublic(request) {
      const address = callerAddress(request);
      const seconds = publicRequests.blockedSeconds(address);
      if (seconds !== undefined) {
        throw problem('rate_limited', {}, { headers: { 'Retry-After': String(seconds) } });
      }
      publicRequests.count(address);
    },

    admit(caller, scopes, response) {
      const counted = limiter.consume(caller);
      if (counted === undefined) return void checkRights(caller, scopes);
      return counted.then(({ headers, retryAfterSeconds }) => {
        response.set(headers);
        // Counted first, so that every response to a verified key has its limit; 403 still comes before 429.
        checkRights(caller, scopes);
        if (retryAfterSeconds !== undefined) {
          throw problem('rate_limited', {}, { headers: { 'Retry-After': String(retryAfterSeconds) } });
        }
      });
    },

    async admitAgain(request, { companyId }, scopes) {
      const now = await gate.identify(request);
      if (now.companyId !== companyId) throw problem('api_key_invalid');
      checkRights(now, scopes);
    },
  };
  return gate;
}

function keyOf(request: Request): string {
  const key = request.headers['x-api-key'];
  if (typeof key !== 'string' || key.trim() === '') throw problem('api_key_missing');
  const isRepeated = key.includes(',') && (request.headersDistinct['x-api-key']?.length ?? 0) > 1;
  if (isRepeated || key.length > maxKeyLength) throw problem('api_key_invalid');
  return key;
}

// From here on a lookup without an outcome was waited for, and counts. A lookup that fails at once costs nothing.
const lateMs = 1_000;

/** Passes the outcome of a verification to the counter of its address. */
async function inCount(
  end: ReturnType<AddressLimit['begin']> | undefined,
  lookUp: () => Promise<VerifyResult | undefined>,
): Promise<VerifyResult | undefined> {
  const began = performance.now();
  try {
    const result = await lookUp();
    end?.(result?.ok === false && result.reason === 'invalid' ? 'refused' : 'done');
    return result;
  } catch (error) {
    end?.(performance.now() - began < lateMs ? 'done' : 'late');
    throw error;
  }
}

async function verifyInTime(
  verifier: KeyVerifier,
  key: string,
  options: VerifyOptions,
): Promise<VerifyResult | undefined> {
  const late = `the key verifier took over ${verifyTimeoutMs} ms`;
  try {
    return await inTime(verifier.verify(key, options), verifyTimeoutMs, late);
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw unavailable(error);
  }
}

function unavailable(cause: unknown): ProblemError {
  return problem('auth_unavailable', {}, { cause });
}
