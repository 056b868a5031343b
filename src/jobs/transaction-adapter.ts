import { createHash } from 'node:crypto';
import type { Db } from 'pg-boss';
import type { Tx } from '../contract/transaction.ts';
import { prepared, type Value } from '../db/prepared.ts';

type Statement = { readonly name: string; readonly sql: string };

/**
 * Lets pg-boss run its statements in our transactions. The adapter of its own reads the whole text anew at
 * each call and prepares nothing: sending a job took twice as long with it.
 */
export function createTransactionAdapter(): (tx: Tx) => Db {
  // Its texts differ by queue and kind of call: there are a few.
  const statements = new Map<string, Statement>();
  const statementOf = (text: string): Statement => {
    const known = statements.get(text) ?? toStatement(text);
    statements.set(text, known);
    return known;
  };
  return (tx) => ({
    async executeSql(text: string, values: Value[] = []) {
      const { name, sql } = statementOf(text);
      return { rows: (await prepared<Record<string, unknown>>(tx, name, sql, values)).rows };
    },
  });
}

function toStatement(text: string): Statement {
  const name = `pgboss_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  // Knex would take a question mark for a placeholder.
  return { name, sql: text.replaceAll('?', '\\?') };
}
