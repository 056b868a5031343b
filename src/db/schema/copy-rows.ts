import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Tx } from '../../contract/transaction.ts';

// The driver's types lack `pipeline`, which may be changed while no statement is in flight.
type PipelinedClient = ClientBase & { pipeline: boolean };

/**
 * Inserts rows with COPY, within the transaction.
 * @param target table with its columns, such as `events (id, name)`
 * @param rows in pieces: whole lines, each ending in a line feed
 * @throws the database's error when a row violates a constraint: COPY knows no ON CONFLICT
 */
export async function copyRows(tx: Tx, target: string, rows: Iterable<Buffer>): Promise<void> {
  // The transaction's own connection, which Knex returns untyped and releases at the end of the transaction.
  const connection = (await tx.client.acquireConnection()) as PipelinedClient;
  // COPY has a protocol of its own, so no other statement may be in flight on the connection.
  connection.pipeline = false;
  const copy = connection.query(copyFrom(`COPY ${target} FROM STDIN`));
  await pipeline(Readable.from(rows), copy);
  // Not after a failure: a statement sent too early would be read as rows.
  connection.pipeline = true;
}
