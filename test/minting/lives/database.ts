import { createHash, randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import knexPackage, { type Knex } from 'knex';
import { withOpenTransaction } from '../../../src/base/open-transaction.ts';
import type { Database, Tx } from '../../../src/contract/transaction.ts';
import { answerOf, createWire, type Gate, openGate } from './wire.ts';

/* PostgreSQL in this process, with the schema of the service. It is emptied between two lives. */

export type LivesDatabase = {
  /** The pool of a process. */
  open(gate: Gate): Database;
  /** Runs what a process has sent that stood still. */
  goOn(): void;
  /** Of whoever looks from outside, until the next life begins. */
  db(): Database;
  /** Empties the tables, and begins all sequences of random numbers and ids. */
  begin(seed: number): Promise<void>;
  /** Keeps what the tables say. */
  backUp(): Promise<void>;
  /** Makes them say it again. @returns whether anything was kept */
  restore(): Promise<boolean>;
};

const { knex } = knexPackage;
const migrations = path.resolve('migrations');

/** Opens a database. The first process of a schema makes it, which takes seconds, and keeps it for the others. */
export async function openDatabase(): Promise<LivesDatabase> {
  const server = await openServer();
  // Plans are made for a statement, not for its values: there are few rows.
  await server.exec("SET plan_cache_mode = force_generic_plan; SET jit = off; SET TimeZone = 'UTC'");
  // PostgreSQL draws its random bytes one by one from there, and Emscripten keeps a thousand of them.
  const { FS } = server.Module;
  FS.unlink('/dev/urandom');
  FS.createDevice('/dev', 'urandom', () => randomBytes(1)[0]);
  const wire = createWire(server);
  const open = (gate: Gate) => connect(wire, gate);
  let db = open(openGate);
  const kept = await rowsOfMigrations(server);
  await prepareReset(server, kept);
  let backup: string | undefined;
  return {
    db: () => db,
    open,
    goOn: wire.goOn,
    async begin(seed) {
      backup = undefined;
      await db.destroy();
      // A pool that has its connections already would let a life go on in another order.
      db = open(openGate);
      answerOf(server, simple(`SELECT lives.begin(${(seed % 1_000_003) / 1_000_003})`));
    },
    async backUp() {
      const { rows } = await server.query<{ all: string }>('SELECT lives.keep() AS all');
      backup = rows[0]?.all;
    },
    async restore() {
      if (backup === undefined) return false;
      await server.query('SELECT lives.restore($1)', [backup]);
      return true;
    },
  };
}

/** A simple query of the protocol. */
function simple(sql: string): Buffer {
  const body = Buffer.from(`${sql}\0`);
  const head = Buffer.alloc(5);
  head.write('Q');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

// A pool looks for idle connections once a second otherwise: most timers of a life would be of that.
const pool = { idleTimeoutMillis: 3_600_000, reapIntervalMillis: 3_600_000 };

function connect(wire: ReturnType<typeof createWire>, gate: Gate): Database {
  const connection = { user: 'postgres', pipeline: true, stream: () => wire.open(gate) };
  // Knex's types lack what the service keeps there.
  const config: Knex.Config & { userParams: object } = {
    client: 'pg',
    compileSqlOnError: false,
    // Processes that die lose their connections.
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
    connection,
    userParams: { transactionLimits: undefined, namesStatements: true },
    // Knex asks each new connection for it otherwise.
    version: '18.0',
    pool: { ...pool, min: 0, max: 10, acquireTimeoutMillis: 5_000 },
  };
  return knex(config);
}

// Nothing has to outlive the process.
const volatile = [
  'full_page_writes=off',
  'synchronous_commit=off',
  'track_counts=off',
  'track_activities=off',
];
const startParams = [...PGlite.defaultStartParams, ...volatile.flatMap((setting) => ['-c', setting])];

async function openServer(): Promise<PGlite> {
  const files = globSync(`${migrations}/*.ts`).sort();
  const digest = createHash('sha256');
  for (const file of files) digest.update(readFileSync(file));
  const kept = path.join(tmpdir(), `tallystick-lives-${digest.digest('hex').slice(0, 16)}.tar`);
  if (existsSync(kept)) return PGlite.create({ loadDataDir: new Blob([readFileSync(kept)]), startParams });
  const server = await PGlite.create({ startParams });
  const db = connect(createWire(server), openGate);
  for (const file of files) {
    const { config, up }: Migration = await import(file);
    if (config?.transaction === false) await up(db);
    else await db.transaction((tx) => withOpenTransaction(() => up(tx)));
  }
  await db.destroy();
  await server.exec('DEALLOCATE ALL');
  await server.exec('CHECKPOINT');
  const dump = await server.dumpDataDir('none');
  const own = `${kept}.${process.pid}`;
  writeFileSync(own, Buffer.from(await dump.arrayBuffer()));
  renameSync(own, kept);
  return server;
}

type Migration = {
  readonly config?: { readonly transaction?: boolean };
  readonly up: (db: Database | Tx) => Promise<void>;
};

/** The tables that migrations have filled: no life empties them. */
async function rowsOfMigrations(server: PGlite): Promise<Set<string>> {
  const filled = new Set<string>();
  for (const table of await tablesOf(server)) {
    const { rows } = await server.query(`SELECT FROM "${table}" LIMIT 1`);
    if (rows.length > 0) filled.add(table);
  }
  return filled;
}

/** All tables, each behind those that refer to it. */
async function tablesOf(server: PGlite): Promise<string[]> {
  const { rows } = await server.query<{ name: string; parents: string[] }>(
    `SELECT c.relname AS name, array(SELECT f.confrelid::regclass::text FROM pg_constraint f
       WHERE f.conrelid = c.oid AND f.contype = 'f') AS parents
     FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const childrenOf = Map.groupBy(
    rows.flatMap(({ name, parents }) => parents.map((parent) => ({ name, parent }))),
    ({ parent }) => parent,
  );
  const ordered = new Set<string>();
  const put = (name: string) => {
    for (const child of childrenOf.get(name) ?? []) put(child.name);
    ordered.add(name);
  };
  for (const { name } of rows) put(name);
  return [...ordered];
}

/**
 * Functions that empty the tables, keep and restore them. A life begins without a change of the session's role: that would have
 * every statement planned again. So the triggers that keep rows for good are off here.
 */
async function prepareReset(server: PGlite, filled: ReadonlySet<string>): Promise<void> {
  const tables = (await tablesOf(server)).filter((table) => !filled.has(table));
  // Lives use few tables. Those that have never had a row are quickly passed over.
  const empty = tables
    .map(
      (table) => `IF pg_relation_size('public."${table}"') > 0 THEN DELETE FROM public."${table}"; END IF;`,
    )
    .join('\n');
  const { rows: sequences } = await server.query<{ name: string; first: string }>(
    "SELECT sequencename AS name, start_value::text AS first FROM pg_sequences WHERE schemaname = 'public'",
  );
  const restart = sequences.map(({ name, first }) => `PERFORM setval('public."${name}"', ${first}, false);`);
  const { rows: columns } = await server.query<{ table: string; names: string }>(
    `SELECT table_name AS table, string_agg(format('%I', column_name), ', ' ORDER BY ordinal_position) AS names
     FROM information_schema.columns WHERE table_schema = 'public' AND is_generated = 'NEVER' GROUP BY 1`,
  );
  const namesOf = new Map(columns.map(({ table, names }) => [table, names]));
  const all = tables.map(
    (table) => `'${table}', (SELECT coalesce(json_agg(t), '[]') FROM public."${table}" t)`,
  );
  // A function has a hundred arguments at most.
  const halves = [all.slice(0, 40), all.slice(40)].map((half) => `jsonb_build_object(${half.join(', ')})`);
  const fill = tables.map(
    (table) => `INSERT INTO public."${table}" (${namesOf.get(table)}) OVERRIDING SYSTEM VALUE
      SELECT ${namesOf.get(table)} FROM jsonb_populate_recordset(NULL::public."${table}", said::jsonb -> '${table}');`,
  );
  const body = (name: string, parameters: string, statements: readonly string[]) => `
    CREATE OR REPLACE FUNCTION lives.${name}(${parameters}) RETURNS void LANGUAGE plpgsql AS $body$ BEGIN
      ${statements.join('\n')}
    END $body$;`;
  await server.exec(`ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only;
    ALTER TABLE audit_chain DISABLE TRIGGER audit_chain_append_only;
    ALTER TABLE snapshot_holders DISABLE TRIGGER snapshot_holders_keep;
    CREATE SCHEMA IF NOT EXISTS lives;
    ${body('begin', 'seed float8', [empty, ...restart, 'PERFORM setseed(seed);'])}
    ${body('restore', 'said text', ["SET LOCAL session_replication_role = 'replica';", empty, ...fill])}
    CREATE OR REPLACE FUNCTION lives.keep() RETURNS text LANGUAGE sql AS
      $body$ SELECT (${halves.join(' || ')})::text $body$;`);
}
