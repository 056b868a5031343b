import type { Database } from '../../../src/contract/transaction.ts';
import { indexTables } from '../../../src/providers/indexer/store/rollback/distribute-store.ts';
import { serverPid, treeMs } from '../process-tree.ts';

/**
 * The least that PostgreSQL does for the rows of the index: a COPY, in its binary format, from a file into empty
 * tables with the same indexes.
 * @param db a superuser's, of a server that nobody else uses
 * @returns milliseconds of a core of the whole server
 */
export async function copyBare(db: Database): Promise<number> {
  const pid = await serverPid(db);
  const { rows } = await db.raw<{ rows: [{ readonly folder: string }] }>(
    "SELECT current_setting('data_directory') AS folder",
  );
  const fileOf = (table: string) => `'${rows[0].folder}/${table}.copy'`;
  // It would be counted, and is no part of it.
  await db.raw('ALTER SYSTEM SET autovacuum = off');
  await db.raw('SELECT pg_reload_conf()');
  await db.raw('CREATE SCHEMA bare');
  for (const table of indexTables) {
    await db.raw(`CREATE TABLE bare.${table} (LIKE ${table} INCLUDING ALL)`);
    await db.raw(`COPY ${table} TO ${fileOf(table)} (FORMAT binary)`);
  }
  await db.raw('CHECKPOINT');
  const begun = treeMs(pid);
  for (const table of indexTables) await db.raw(`COPY bare.${table} FROM ${fileOf(table)} (FORMAT binary)`);
  return treeMs(pid) - begun;
}
