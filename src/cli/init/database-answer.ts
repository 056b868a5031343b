import { createLogger } from '../../base/log.ts';
import { errorText } from '../../base/thrown.ts';
import { createDatabase } from '../../db/connection/connect.ts';
import { commandLimits } from '../../db/connection/session-limits.ts';
import { inspectDatabase } from '../../db/schema/inspect.ts';
import { assertInRange, assertSupported } from '../../db/schema/schema-check.ts';
import { explainDatabase } from '../shared/database-failure.ts';

/** Connects to the database of a URL. @returns why this release cannot work with it, in words; undefined when it can */
export async function databaseFault(url: string): Promise<string | undefined> {
  await using opened = new AsyncDisposableStack();
  const log = createLogger({ level: 'silent' });
  const db = createDatabase(url, { poolMax: 1, log, limits: commandLimits });
  opened.defer(() => db.destroy());
  try {
    const state = await inspectDatabase(db);
    assertSupported(state);
    assertInRange(state);
    return undefined;
  } catch (error) {
    return explainDatabase(error, { url, local: false }) ?? errorText(error);
  }
}
