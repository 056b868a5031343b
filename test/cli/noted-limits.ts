import { onTestFinished } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';

/**
 * Notes until the test ends what a statement may take that reads, changes or deletes rows of the table, but for those of
 * its owner.
 * @returns gives what was noted since it was called last, each limit once
 */
export async function noteLimits(db: Database, table: string): Promise<() => Promise<string[]>> {
  await db.raw(`
    CREATE TABLE noted_limits (value text);
    CREATE FUNCTION note_limit() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO noted_limits VALUES (current_setting('statement_timeout'));
      RETURN true;
    END $$;
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY noted ON ${table} USING (note_limit()) WITH CHECK (true)`);
  onTestFinished(async () => {
    await db.raw(`
      ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY;
      DROP POLICY noted ON ${table};
      DROP FUNCTION note_limit;
      DROP TABLE noted_limits`);
  });
  return async () => {
    const rows: { value: string }[] = await db('noted_limits').delete().returning('value');
    return [...new Set(rows.map(({ value }) => value))];
  };
}
