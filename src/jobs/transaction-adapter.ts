import { createHash } from 'node:crypto';
import type { Db } from 'pg-boss';
import type { Tx } from '../contract/transaction.ts';
import { prepared, type Value } from '../db/prepared.ts';

/**
 * Lets pg-boss run its statements in our transactions. Its own adapter parses the whole text at each call and
 * prepares nothing: enqueuing a job took twice as long with it.
 */
export function createTransactionAdapter(): (tx: Tx) => Db {
  // There are only a few texts: one for each queue and kind of call.
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `pgboss_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    names.set(text, name);
    return name;
  };
  return (tx) => ({
    executeSql: (text: string, values: Value[] = []) => prepared(tx, nameOf(text), text, values),
  });
}
