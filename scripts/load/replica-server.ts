import { chownSync, mkdirSync, readdirSync } from 'node:fs';
import { chmod, cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '../../src/contract/transaction.ts';
import { findPostgresPlace, type PostgresPlace } from '../../src/local/programs/postgres-place.ts';
import { type DatabaseServer, serveDatabase } from './database-server.ts';

/**
 * Starts a server that follows another server, from a copy of its data.
 * @param db connects to the server that is copied
 * @param source how the new server reaches it
 */
export async function startReplicaServer(
  folder: string,
  primary: { readonly server: DatabaseServer; readonly db: Database },
  source: string,
): Promise<DatabaseServer> {
  mkdirSync(folder, { recursive: true });
  await chmod(folder, 0o755);
  const place = findPostgresPlace(path.join(folder, 'postgres'));
  await copyData(primary.db, primary.server.place.data, place.data);
  const { hostname, port, username, password } = new URL(source);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password}`;
  await writeFile(path.join(place.data, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  await writeFile(path.join(place.data, 'standby.signal'), '');
  own(place);
  return serveDatabase(folder, place);
}

/** The files of a running server with the label that makes a backup of them. */
function copyData(db: Database, from: string, to: string): Promise<void> {
  const isLive = (file: string) => !/postmaster\.(pid|opts)$|\/pgsql_tmp/.test(file);
  // Both ends of a backup are asked of one connection.
  return db.transaction(async (tx) => {
    await tx.raw("SELECT pg_backup_start('replica', true)");
    await cp(from, to, { recursive: true, filter: isLive });
    const { rows } = await tx.raw('SELECT labelfile FROM pg_backup_stop(false)');
    await writeFile(path.join(to, 'backup_label'), rows[0].labelfile);
  });
}

function own({ data, identity }: PostgresPlace): void {
  if (identity === undefined) return;
  for (const name of ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })]) {
    chownSync(path.join(data, name), identity.uid, identity.gid);
  }
}
