import type { DatabaseState } from './inspect.ts';

/** A database that this release cannot work with. The message says what to do. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** @throws SchemaError when the server is older than what the schema and the queries need */
export function assertSupported({ supported, version }: Pick<DatabaseState, 'supported' | 'version'>): void {
  if (!supported) throw new SchemaError(`PostgreSQL ${version} is too old: use 15 or later.`);
}

/** @throws SchemaError when a newer release has changed the schema */
export function assertNotNewer({ unknown }: Pick<DatabaseState, 'unknown'>): void {
  if (unknown.length === 0) return;
  throw new SchemaError(
    `The database was migrated by a newer release (${unknown.join(', ')}): use that release.`,
  );
}

/** @throws SchemaError when the schema is not that of this release */
export function assertCurrent(state: Pick<DatabaseState, 'pending' | 'unknown'>): void {
  assertNotNewer(state);
  if (state.pending.length === 0) return;
  throw new SchemaError(
    `The database lacks ${state.pending.length} migration(s) of this release. Run: tallystick migrate`,
  );
}
