import type { Database, Tx } from '../../contract/transaction.ts';
import { inTransaction } from '../connection/transaction.ts';
import {
  columnInserts,
  type DatabaseRole,
  databaseRoles,
  functionCallers,
  groupOf,
  privilegesOn,
  queuePrivileges,
  tableRights,
  updatable,
} from './role-rights.ts';
import { SchemaError } from './schema-check.ts';

const groups = databaseRoles.map(groupOf);

/** Groups of the server that are missing because the user of this connection may not create them. */
export type MissingGroups = readonly string[];

/**
 * Creates the groups of the roles where they are missing, and gives each what it needs and nothing else. Users of other
 * roles, and their connections, notice nothing.
 * @returns the groups that an administrator has to create. The other groups got their rights
 */
export async function grantRoleRights(db: Database): Promise<MissingGroups> {
  const missing = await createGroups(db);
  const here = databaseRoles.filter((role) => !missing.includes(groupOf(role)));
  const columns = await listColumns(db);
  await inTransaction(db, async (tx) => {
    for (const role of here) await grantTo(tx, role, columns);
  });
  return missing;
}

/**
 * Takes the right to make temporary tables from everybody but the owner of the database, whose right is its own.
 * @returns the statement for an administrator, where the user of this connection may not
 */
export async function revokeTemporary(db: Database): Promise<string | undefined> {
  if (!(await isTemporaryForAll(db))) return undefined;
  const { rows } = await db.raw('SELECT quote_ident(current_database()) AS name');
  const statement = `REVOKE TEMPORARY ON DATABASE ${rows[0].name} FROM PUBLIC`;
  // For a user who does not own the database it is only a warning.
  await db.raw(statement);
  return (await isTemporaryForAll(db)) ? `${statement};` : undefined;
}

/** Returns whether every user of the database may make temporary tables, as in a new database. */
export async function isTemporaryForAll(db: Database): Promise<boolean> {
  const { rows } = await db.raw(
    "SELECT has_database_privilege('public', current_database(), 'TEMPORARY') AS allowed",
  );
  return rows[0].allowed;
}

/** What groups that are there may not do yet with tables that are there, each in words. */
export async function findMissingRights(db: Database): Promise<string[]> {
  const { rows }: { rows: { lacks: string }[] } = await db.raw(
    `SELECT w.group || ' may not ' || w.right || ' ' || w.table AS lacks FROM ${wantedRights}
     WHERE CASE WHEN to_regrole(w.group) IS NULL THEN false
       WHEN w.columns IS NULL THEN NOT has_table_privilege(w.group, w.table, w.right)
       ELSE EXISTS (SELECT FROM unnest(w.columns) AS name WHERE NOT has_column_privilege(w.group, w.table, name, w.right)) END`,
    [await listRights(db, databaseRoles)],
  );
  return rows.map(({ lacks }) => lacks);
}

type LackedRight = {
  readonly user: string;
  readonly group: string;
  readonly right: string;
  readonly isMember: boolean | null;
};

/**
 * Checks that the user of this connection may do what the roles of a process do. Members of the groups may, and the owner.
 * @throws SchemaError with the statement that gives the right
 */
export async function assertRightsOf(db: Database, roles: readonly DatabaseRole[]): Promise<void> {
  const { rows }: { rows: LackedRight[] } = await db.raw(
    `SELECT quote_ident(current_user) AS user, w.group, w.right || ' ' || w.table AS right,
       CASE WHEN to_regrole(w.group) IS NOT NULL THEN pg_has_role(to_regrole(w.group), 'USAGE') END AS "isMember"
     FROM ${wantedRights}
     WHERE CASE WHEN w.columns IS NULL THEN NOT has_table_privilege(w.table, w.right)
       ELSE EXISTS (SELECT FROM unnest(w.columns) AS name WHERE NOT has_column_privilege(w.table, name, w.right)) END
     LIMIT 1`,
    [await listRights(db, roles)],
  );
  const [lacked] = rows;
  if (lacked === undefined) return;
  const { user, group, right, isMember } = lacked;
  const remedy =
    isMember === true ? 'Run: tallystick migrate' : `Run as administrator: GRANT ${group} TO ${user}`;
  throw new SchemaError(`The user ${user} of DATABASE_URL may not ${right}, which ROLES needs. ${remedy}`);
}

const wantedRights =
  'jsonb_to_recordset(?::jsonb) AS w ("group" text, "table" text, "right" text, columns text[])';

/** Returns what users of the roles need of the tables that are there, as JSON. */
async function listRights(db: Database, roles: readonly DatabaseRole[]): Promise<string> {
  const columns = await listColumns(db);
  const wanted = roles.flatMap((role) =>
    [...columns].flatMap(([table, all]) =>
      privilegesOn(table, role).map((right) => ({
        group: groupOf(role),
        table,
        right,
        columns: right === 'UPDATE' ? updatable(table, role, all) : null,
      })),
    ),
  );
  return JSON.stringify(wanted);
}

type Columns = ReadonlyMap<string, readonly string[]>;

/** Returns the columns of each table and view that is there. */
async function listColumns(db: Database): Promise<Columns> {
  const { rows }: { rows: { table: string; columns: string[] }[] } = await db.raw(
    `SELECT t.name AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM unnest(?::text[]) AS t (name) JOIN pg_attribute a ON a.attrelid = to_regclass(t.name)
     WHERE a.attnum > 0 AND NOT a.attisdropped GROUP BY t.name`,
    [Object.keys(tableRights)],
  );
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

async function grantTo(tx: Tx, role: DatabaseRole, columns: Columns): Promise<void> {
  const group = groupOf(role);
  await grantSchema(tx, 'current_schema()', group);
  await tx.raw(`REVOKE ALL ON ${Object.keys(tableRights).join(', ')} FROM ${group}`);
  for (const [privileges, tables] of tablesByPrivileges(role, columns)) {
    await tx.raw(`GRANT ${privileges} ON ${tables.join(', ')} TO ${group}`);
  }
  for (const [table, { columns: added, roles }] of Object.entries(columnInserts)) {
    if (roles.includes(role)) await tx.raw(`GRANT INSERT (${added.join(', ')}) ON ${table} TO ${group}`);
  }
  for (const [name, roles] of Object.entries(functionCallers))
    if (roles.includes(role)) await tx.raw(`GRANT EXECUTE ON FUNCTION ${name} TO ${group}`);
  const ofQueue = queuePrivileges[role];
  if (ofQueue === undefined) return;
  await grantSchema(tx, "'pgboss'", group);
  await tx.raw(`GRANT ${ofQueue.join(', ')} ON ALL TABLES IN SCHEMA pgboss TO ${group}`);
}

/** Tables of one statement, by what it grants. */
function tablesByPrivileges(role: DatabaseRole, columns: Columns): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [table, all] of columns) {
    const privileges = privilegesOn(table, role).map((privilege) => {
      const some = updatable(table, role, all);
      return privilege !== 'UPDATE' || some.length === all.length ? privilege : `UPDATE (${some.join(', ')})`;
    });
    const text = privileges.join(', ');
    if (text !== '') found.set(text, [...(found.get(text) ?? []), table]);
  }
  return found;
}

async function createGroups(db: Database): Promise<MissingGroups> {
  const { rows }: { rows: { name: string }[] } = await db.raw(
    `SELECT name FROM unnest(?::text[]) AS wanted (name)
     WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)`,
    [groups],
  );
  const { rows: users }: { rows: { creates: boolean }[] } = await db.raw(
    'SELECT rolsuper OR rolcreaterole AS creates FROM pg_roles WHERE rolname = current_user',
  );
  const missing = rows.map(({ name }) => name);
  if (users[0]?.creates !== true) return missing;
  // They belong to the server: another of its databases may be migrated at the same moment.
  for (const name of missing) {
    await db.raw(
      `DO $$ BEGIN CREATE ROLE ${name} NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$`,
    );
  }
  return [];
}

/** Most servers give PUBLIC the use of `public`, and only its owner could. @param schema an SQL expression */
async function grantSchema(tx: Tx, schema: string, group: string): Promise<void> {
  const { rows }: { rows: { name: string; has: boolean }[] } = await tx.raw(
    `SELECT quote_ident(name) AS name, has_schema_privilege(?, name, 'USAGE') AS has FROM (SELECT ${schema} AS name) s`,
    [group],
  );
  const [found] = rows;
  if (found?.has === false) await tx.raw(`GRANT USAGE ON SCHEMA ${found.name} TO ${group}`);
}
