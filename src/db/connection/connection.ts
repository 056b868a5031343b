import type { ClientBase } from 'pg';
import type { Database } from '../../contract/transaction.ts';

/** Runs the work with a connection of the pool, for statements that do not go through Knex. */
export async function withConnection<T>(
  db: Database,
  work: (connection: ClientBase) => Promise<T>,
): Promise<T> {
  const connection: ClientBase = await db.client.acquireConnection();
  try {
    return await work(connection);
  } catch (error) {
    // Of a text with several statements, a transaction may be open.
    await connection.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    db.client.releaseConnection(connection);
  }
}
