import { onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase, type DatabaseOptions } from '../../src/db/connection/connect.ts';

/** Opens a database for one test, by one connection unless the options say otherwise. */
export function openPool(url: string, options: Partial<DatabaseOptions> = {}): Database {
  const pool = createDatabase(url, { poolMax: 1, log: createLogger({ level: 'silent' }), ...options });
  onTestFinished(() => pool.destroy());
  return pool;
}
