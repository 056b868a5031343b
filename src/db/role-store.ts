import type { Database, Tx } from '../contract/transaction.ts';
import {
  columnInserts,
  type DatabaseRole,
  databaseRoles,
  functionCallers,
  groupOf,
  operatorSequences,
  privilegesOn,
  queuePrivileges,
  tableRights,
} from './role-rights.ts';
import { inTransaction } from './transaction.ts';

const groups = databaseRoles.map(groupOf);

/** Groups of the server that are missing because the user of this connection may not create them. */
export type MissingGroups = readonly string[];

/**
 * Creates the groups of the roles where they are missing, and gives each what it needs and nothing else. Users of
 * other roles, and their connections, notice nothing.
 * @returns the groups that an administrator has to create; those that are there got their rights
 */
export async function grantRoleRights(db: Database): Promise<MissingGroups> {
  const missing = await createGroups(db);
  const here = databaseRoles.filter((role) => !missing.includes(groupOf(role)));
  await inTransaction(db, async (tx) => {
    for (const role of here) await grantTo(tx, role);
  });
  return missing;
}

/** What groups that are there may not do yet with tables that are there, each in words. */
export async function findMissingRights(db: Database): Promise<string[]> {
  const wanted = databaseRoles.flatMap((role) =>
    Object.keys(tableRights).flatMap((table) =>
      privilegesOn(table, role).map((right) => ({ group: groupOf(role), table, right })),
    ),
  );
  const { rows }: { rows: { lacks: string }[] } = await db.raw(
    `SELECT w.group || ' may not ' || w.right || ' ' || w.table AS lacks
     FROM jsonb_to_recordset(?::jsonb) AS w ("group" text, "table" text, "right" text)
     WHERE CASE WHEN to_regrole(w.group) IS NOT NULL AND to_regclass(w.table) IS NOT NULL
       THEN NOT has_table_privilege(w.group, w.table, w.right) ELSE false END`,
    [JSON.stringify(wanted)],
  );
  return rows.map(({ lacks }) => lacks);
}

async function grantTo(tx: Tx, role: DatabaseRole): Promise<void> {
  const group = groupOf(role);
  await grantSchema(tx, 'current_schema()', group);
  await tx.raw(`REVOKE ALL ON ${Object.keys(tableRights).join(', ')} FROM ${group}`);
  for (const [privileges, tables] of tablesByPrivileges(role)) {
    await tx.raw(`GRANT ${privileges} ON ${tables.join(', ')} TO ${group}`);
  }
  for (const [table, { columns, roles }] of Object.entries(columnInserts)) {
    if (roles.includes(role)) await tx.raw(`GRANT INSERT (${columns.join(', ')}) ON ${table} TO ${group}`);
  }
  if (role === 'operator')
    await tx.raw(`GRANT SELECT, UPDATE ON SEQUENCE ${operatorSequences.join(', ')} TO ${group}`);
  for (const [name, roles] of Object.entries(functionCallers))
    if (roles.includes(role)) await tx.raw(`GRANT EXECUTE ON FUNCTION ${name} TO ${group}`);
  const ofQueue = queuePrivileges[role];
  if (ofQueue === undefined) return;
  await grantSchema(tx, "'pgboss'", group);
  await tx.raw(`GRANT ${ofQueue.join(', ')} ON ALL TABLES IN SCHEMA pgboss TO ${group}`);
}

function tablesByPrivileges(role: DatabaseRole): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const table of Object.keys(tableRights)) {
    const privileges = privilegesOn(table, role).join(', ');
    if (privileges !== '') found.set(privileges, [...(found.get(privileges) ?? []), table]);
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
