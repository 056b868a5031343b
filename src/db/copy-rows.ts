import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Tx } from '../contract/transaction.ts';

// The driver lets it be switched while nothing is under way; its types do not know that.
type Switchable = ClientBase & { pipeline: boolean };

/**
 * Writes rows with COPY, within the transaction. Nothing may be there already.
 * @param target table with its columns, `events (id, name)`
 * @param text chunks of whole lines in the text format of COPY, each line ending in a line feed
 */
export async function copyRows(tx: Tx, target: string, text: Iterable<string>): Promise<void> {
  // The transaction's own connection, which knex gives out untyped and takes back at its end.
  const connection = (await tx.client.acquireConnection()) as Switchable;
  // COPY speaks on the connection as it likes, so nothing else may be under way on it.
  connection.pipeline = false;
  await pipeline(Readable.from(text), connection.query(copyFrom(`COPY ${target} FROM STDIN`)));
  // After a failure it stays as it is: a statement that is sent too early would be taken for rows.
  connection.pipeline = true;
}
