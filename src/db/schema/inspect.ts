import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../contract/transaction.ts';
import type { SchemaRange } from './schema-range.ts';
import { readSchema } from './schema-store.ts';

export type DatabaseState = {
  /** Version of the server, such as `18.4`. */
  readonly version: string;
  /** Whether the server is recent enough for the schema and the queries: PostgreSQL 15 or later. */
  readonly supported: boolean;
  readonly database: string;
  readonly user: string;
  /** In which the database stores texts, such as `UTF8`. */
  readonly encoding: string;
  /** `off` where a backslash within quotes is no backslash. */
  readonly standardStrings: string;
  /** Settings that are off, so that a crash of the server can lose committed transactions. */
  readonly lossy: readonly string[];
  /** Migrations of this release that the database has not run. */
  readonly pending: readonly string[];
  /** Migrations that the database has run and this release does not know: a newer release migrated it. */
  readonly unknown: readonly string[];
  /** Unknown migrations that come before one of this release. No release has them: they were between two releases. */
  readonly unreleased: readonly string[];
  /** Which releases may run on the schema, as the release that migrated it last has declared. */
  readonly range: SchemaRange | undefined;
  /** Whether this release is in the range. */
  readonly isInRange: boolean;
};

const directory = fileURLToPath(new URL('../../../migrations', import.meta.url));
// PostgreSQL 15, as `server_version_num` writes it.
const minVersion = 150_000;

type ServerRow = Pick<
  DatabaseState,
  'version' | 'database' | 'user' | 'encoding' | 'standardStrings' | 'lossy'
> & {
  readonly number: number;
};

/** Reads the state of a database without changing it. Knex's own list of migrations would create its tables. */
export async function inspectDatabase(db: Database): Promise<DatabaseState> {
  const { rows }: { rows: ServerRow[] } = await db.raw(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       current_database() AS database, current_user AS "user", current_setting('server_encoding') AS encoding,
       current_setting('standard_conforming_strings') AS "standardStrings",
       ARRAY(SELECT name FROM pg_settings WHERE setting = 'off' AND name = ANY (?) ORDER BY name) AS lossy`,
    [['fsync', 'full_page_writes', 'synchronous_commit']],
  );
  const known = (await readdir(directory)).filter((file) => file.endsWith('.ts')).sort();
  const { run, range } = await readSchema(db);
  const unknown = run.filter((name) => !known.includes(name));
  const [row] = rows;
  if (row === undefined) throw new Error('The database says nothing of itself.');
  const { number, ...server } = row;
  return {
    ...server,
    supported: number >= minVersion,
    pending: known.filter((name) => !run.includes(name)),
    unknown,
    unreleased: unknown.filter((name) => known.some((other) => name < other)),
    range,
    isInRange: unknown.length === 0 || (range !== undefined && known.includes(range.needs)),
  };
}

/**
 * How many connections the server takes from users like the own user, and how many it has from anybody. Of connections
 * of other users `pg_stat_activity` hides all but their number.
 */
export async function findServerConnections(db: Database): Promise<{ most: number; used: number }> {
  const { rows }: { rows: { most: number; used: number }[] } = await db.raw(
    `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
       (SELECT sum(numbackends)::int FROM pg_stat_database WHERE datid <> 0) AS used`,
  );
  return rows[0] ?? { most: 0, used: 0 };
}

/**
 * For how many minutes rows of this database that died may not be removed, since somebody may still see them: a dump, a
 * session that was left open, or a prepared transaction. A user who may read statistics sees the sessions of others.
 */
export async function findOldestSnapshot(db: Database): Promise<{ minutes: number; of: string } | undefined> {
  const { rows }: { rows: { minutes: number; of: string }[] } = await db.raw(
    `SELECT of, floor(extract(epoch FROM clock_timestamp() - since) / 60)::int AS minutes FROM (
       SELECT xact_start AS since, concat('process ', pid, coalesce(' of ' || nullif(application_name, ''), '')) AS of
       FROM pg_stat_activity WHERE datname = current_database() AND coalesce(backend_xmin, backend_xid) IS NOT NULL
       UNION ALL SELECT prepared, concat('prepared transaction ', gid) FROM pg_prepared_xacts
       WHERE database = current_database()) open
     WHERE since IS NOT NULL ORDER BY since LIMIT 1`,
  );
  return rows[0];
}

/** Milliseconds that the server's clock is ahead of this machine's, give or take half of what the question took. */
export async function findClockLead(db: Database): Promise<number> {
  const before = Date.now();
  const { rows }: { rows: { ms: number }[] } = await db.raw(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
  );
  return Math.round((rows[0]?.ms ?? before) - (before + Date.now()) / 2);
}
