import type { Config } from '../config/config.ts';
import type { Database } from '../contract/transaction.ts';
import type { Notifications } from '../db/connection/notifications.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';
import { createPostgresVerifier } from './postgres-verifier.ts';
import { createRemoteVerifier } from './remote-verifier.ts';
import type { KeyVerifier } from './verifier.ts';

type VerifierParts = {
  readonly db: Database;
  readonly notifications: Notifications;
  readonly outgoing: Outgoing;
};

// The promised time for a revocation.
const keptSeconds = 10;

// The entry of a key has some 300 bytes.
const mostKeys = 10_000;

/**
 * Creates the verifier that the settings choose.
 * @throws Error when a setting that it needs is missing
 */
export async function createVerifier(
  config: Config,
  { db, notifications, outgoing }: VerifierParts,
): Promise<KeyVerifier> {
  const cache = { cacheSeconds: keptSeconds, cacheMax: mostKeys };
  if (config.KEY_VERIFIER === 'postgres') {
    return createPostgresVerifier({
      db,
      notifications,
      environment: config.KEY_ENVIRONMENT,
      lookUpsAtOnce: Math.ceil(config.DATABASE_POOL_MAX / 5),
      ...cache,
    });
  }
  const { AUTH_URL: url, AUTH_CREDENTIAL: credential } = config;
  if (url === undefined || credential === undefined) {
    throw new Error('KEY_VERIFIER=remote needs AUTH_URL and AUTH_CREDENTIAL');
  }
  return createRemoteVerifier({
    url,
    credential,
    outgoing,
    dialect: config.AUTH_DIALECT,
    timeoutMs: 2_000,
    ...cache,
  });
}
