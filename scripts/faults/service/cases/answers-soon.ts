import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../../../src/base/log.ts';
import { createDatabase } from '../../../../src/db/connection/connect.ts';

const soonMs = 2_000;

/** Whether a server of this URL answers a statement in a moment. */
export async function answersSoon(databaseUrl: string): Promise<boolean> {
  const db = createDatabase(databaseUrl, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  const asked = db.raw('SELECT 1').then(
    () => true,
    () => false,
  );
  const answers = await Promise.race([asked, pause(soonMs, false)]);
  // One that hangs may take as long to be let go of; nobody waits for it.
  void db.destroy().catch(() => {});
  return answers;
}
