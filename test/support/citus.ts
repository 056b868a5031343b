import type { Knex } from 'knex';
import { createLogger } from '../../src/base/log.ts';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { distributeIndex } from '../../src/providers/indexer/store/rollback/distribute-store.ts';

const log = createLogger({ level: 'silent' });

// Test files wait for each other's databases.
const patient = { statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };

type Node = { readonly host: string; readonly port: number };

type CitusDatabase = { db: Knex; url: string; close(): Promise<void> };

/**
 * Creates a database in a Citus cluster, with the index distributed over the workers. `close` drops it.
 * @param clusterUrl the URL of a database on the coordinator, as a superuser; its workers are registered there
 */
export async function createCitusDatabase(clusterUrl: string, name: string): Promise<CitusDatabase> {
  const database = await createEmptyCitusDatabase(clusterUrl, name);
  await prepareDatabase(database.db);
  await distributeIndex(database.db, { shards: 4, onTable: () => undefined });
  return database;
}

/** The same without a schema. */
export async function createEmptyCitusDatabase(clusterUrl: string, name: string): Promise<CitusDatabase> {
  const [coordinator, ...workers] = await nodesOf(clusterUrl);
  if (coordinator === undefined || workers.length === 0) throw new Error('CITUS_URL names no worker node.');
  const nodes = [coordinator, ...workers];
  const turn = createDatabase(clusterUrl, { poolMax: 1, log, limits: patient });
  // Nodes that create several databases at once time out waiting for each other.
  await turn.raw('SELECT pg_advisory_lock(1)');
  for (const node of nodes) {
    await using(urlOf(clusterUrl, node), (db) => db.raw(`CREATE DATABASE ${name}`));
    await using(urlOf(clusterUrl, node, name), (db) => db.raw('CREATE EXTENSION citus'));
  }
  const url = urlOf(clusterUrl, coordinator, name);
  const db = createDatabase(url, { poolMax: 20, log });
  await db.raw('SELECT citus_set_coordinator_host(?, ?)', [coordinator.host, coordinator.port]);
  for (const { host, port } of workers) await db.raw('SELECT citus_add_node(?, ?)', [host, port]);
  await turn.destroy();
  return {
    db,
    url,
    async close() {
      await db.destroy();
      for (const node of nodes)
        await using(urlOf(clusterUrl, node), (admin) => admin.raw(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

/** The coordinator, then the workers. */
async function nodesOf(clusterUrl: string): Promise<Node[]> {
  const { hostname, port } = new URL(clusterUrl);
  const found = await using(clusterUrl, (db) =>
    db.raw<{ rows: Node[] }>(
      'SELECT node_name AS host, node_port::int AS port FROM citus_get_active_worker_nodes()',
    ),
  );
  return [{ host: hostname, port: Number(port) }, ...found.rows];
}

function urlOf(clusterUrl: string, { host, port }: Node, database?: string): string {
  const url = new URL(clusterUrl);
  url.hostname = host;
  url.port = String(port);
  if (database !== undefined) url.pathname = `/${database}`;
  return url.href;
}

async function using<T>(url: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const db = createDatabase(url, { poolMax: 1, log });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
