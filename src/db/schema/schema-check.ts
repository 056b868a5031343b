import type { DatabaseState } from './inspect.ts';

/** A database that this release cannot work with. The message says what to do. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

type ServerState = Pick<
  DatabaseState,
  'supported' | 'version' | 'database' | 'user' | 'encoding' | 'standardStrings'
>;

/** @throws SchemaError when the server or the database is not what the schema and the queries need */
export function assertSupported(state: ServerState): void {
  const { supported, version, database, user, encoding, standardStrings } = state;
  if (!supported) throw new SchemaError(`PostgreSQL ${version} is too old: use 15 or later.`);
  if (encoding !== 'UTF8') {
    throw new SchemaError(
      `The database "${database}" has the encoding ${encoding}, and this release needs UTF8. Use a database that is made by: ` +
        "CREATE DATABASE <name> TEMPLATE template0 ENCODING 'UTF8'",
    );
  }
  if (standardStrings === 'off') {
    throw new SchemaError(
      `The database "${database}" has standard_conforming_strings = off. Run there: ` +
        `ALTER DATABASE "${database}" SET standard_conforming_strings = on. Where its user has a setting of its own: ` +
        `ALTER ROLE "${user}" RESET standard_conforming_strings`,
    );
  }
}

type NewerState = Pick<DatabaseState, 'unknown' | 'unreleased' | 'range' | 'isInRange'>;

/**
 * @throws SchemaError when the schema comes from no release, or when a newer release has changed it in a way that this
 *   release cannot work with
 */
export function assertInRange({ unknown, unreleased, range, isInRange }: NewerState): void {
  if (unreleased.length > 0) {
    throw new SchemaError(
      `The database was migrated by a state of Tallystick between two releases: it has run ${unreleased[0]}, and no release ` +
        'has this migration. Use an empty database (for npm start: npm start -- --fresh), or a backup that a release made.',
    );
  }
  if (isInRange) return;
  if (range === undefined) {
    throw new SchemaError(
      `The database was migrated by a newer release (${unknown.join(', ')}): use that release.`,
    );
  }
  throw new SchemaError(
    `The database was migrated by release ${range.migratedBy}, and releases before ${range.oldestRelease} cannot work with ` +
      `its schema any more: use ${range.oldestRelease} or later, or restore a backup from before that migration.`,
  );
}

/** @throws SchemaError when this release cannot work with the schema */
export function assertUsable(state: NewerState & Pick<DatabaseState, 'pending'>): void {
  assertInRange(state);
  if (state.pending.length === 0) return;
  throw new SchemaError(
    `The database lacks ${state.pending.length} migration(s) of this release. Run: tallystick migrate`,
  );
}

/** What a newer release has done to the schema, in words; undefined when none has. */
export function newerSchema({ unknown, range }: NewerState): string | undefined {
  if (unknown.length === 0) return undefined;
  return `of release ${range?.migratedBy ?? 'unknown'}, newer than this one, which may run on it`;
}
