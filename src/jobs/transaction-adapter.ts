import type { QueryResult } from 'pg';
import type { Db } from 'pg-boss';
import type { Database, Tx } from '../contract/transaction.ts';
import { nameOf, prepared, type Value } from '../db/connection/prepared.ts';

/**
 * Lets pg-boss run its statements in our transactions. Its own adapter parses the whole text at each call and
 * prepares nothing: enqueuing a job took twice as long with it.
 */
export const transactionAdapter = (tx: Tx): Db => ({
  // There are only a few texts: one for each queue and kind of call.
  executeSql: (text: string, values: Value[] = []) => prepared(tx, nameOf(text), text, values),
});

/** Lets pg-boss run its own statements on our pool, as they are: it has its own form of placeholders. */
export const createPoolAdapter = (db: Database): Db => ({
  async executeSql(text: string, values: Value[] = []) {
    // A text of several statements has several results.
    const result: QueryResult | QueryResult[] = await db
      .raw(text.replaceAll('?', '\\?'))
      .options({ values })
      .catch((error: unknown) => {
        // Knex puts the statement before the message, and one of pg-boss has pages.
        if (error instanceof Error) error.message = error.message.replace(`${text} - `, () => '');
        throw error;
      });
    return Array.isArray(result) ? { rows: result.flatMap(({ rows }) => rows) } : result;
  },
});
