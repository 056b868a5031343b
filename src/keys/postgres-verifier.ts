import type { Database } from '../contract/transaction.ts';
import type { Notifications } from '../db/connection/notifications.ts';
import { invalidKey } from './auth-answer.ts';
import { createCachedVerifier, type KeyVerdict } from './cached-verifier.ts';
import { isWellFormedKey } from './key-format.ts';
import { lookUpKey, type StoredKey } from './key-lookup-store.ts';
import type { KeyVerifier } from './verifier.ts';

// The table's trigger sends the hexadecimal hash of every key that is made, changed or removed.
const channel = 'tallystick_keys';

type PostgresVerifierOptions = {
  readonly db: Database;
  readonly notifications: Notifications;
  readonly environment: string;
  /** From 0 to 10. */
  readonly cacheSeconds: number;
  readonly cacheMax: number;
  /** They wait for nobody's turn in the pool, so they must not be able to take it all. */
  readonly lookUpsAtOnce: number;
  /** Time limit of one query, waiting for a connection included; 3 s by default. */
  readonly timeoutMs?: number;
};

/**
 * Verifies keys against the service's own key store. A notification of a changed key removes it from the cache; a gap
 * in the notifications empties the cache. Without notifications, the expiry of cache entries alone keeps the promise
 * that a revoked key is rejected within 10 seconds.
 */
export async function createPostgresVerifier(options: PostgresVerifierOptions): Promise<KeyVerifier> {
  const { db, notifications, environment, timeoutMs = 3_000 } = options;
  const cached = createCachedVerifier({
    isWellFormed: (key) => isWellFormedKey(key, environment),
    lookUp: async (_key, hash) => toVerdict(await lookUpKey(db, hash, timeoutMs)),
    cacheSeconds: options.cacheSeconds,
    cacheMax: options.cacheMax,
    lookUpsAtOnce: options.lookUpsAtOnce,
    timeoutMs,
  });
  const unsubscribe = await notifications.subscribe({
    channel,
    onNotify: cached.forget,
    onGap: cached.forgetAll,
  });
  return {
    ...cached,
    async close() {
      unsubscribe();
      await cached.close();
    },
  };
}

function toVerdict(key: StoredKey | undefined): KeyVerdict {
  if (key === undefined || !key.usable) return invalidKey;
  return { result: { ok: true, caller: key.caller }, validSeconds: key.secondsLeft };
}
