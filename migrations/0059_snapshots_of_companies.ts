import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * What the snapshots of a company take is bounded, so a company may delete one. Housekeeping then deletes its holders, and no others: the
 * trigger of a holder finds no snapshot then. A foreign key would delete a million of them within the request. Whatever was taken still
 * never changes.
 */
const deletion = (schema: string) => `
  ALTER TABLE ownership_snapshots ADD COLUMN IF NOT EXISTS expected_holders integer;
  CREATE OR REPLACE FUNCTION keep_snapshot_holder() RETURNS trigger LANGUAGE plpgsql
    SET search_path = ${schema}, pg_temp AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM ownership_snapshots WHERE id = OLD.snapshot_id) THEN
        RETURN OLD;
      END IF;
      RAISE EXCEPTION 'a snapshot that was taken does not change' USING ERRCODE = 'restrict_violation';
    END $$;
  CREATE OR REPLACE TRIGGER ownership_snapshots_keep BEFORE UPDATE ON ownership_snapshots
    FOR EACH ROW WHEN (OLD.taken_at IS NOT NULL) EXECUTE FUNCTION keep_snapshot();
  CREATE OR REPLACE TRIGGER snapshot_holders_keep BEFORE UPDATE OR DELETE ON snapshot_holders
    FOR EACH ROW EXECUTE FUNCTION keep_snapshot_holder();
  ALTER TABLE snapshot_holders DROP CONSTRAINT IF EXISTS snapshot_holders_snapshot_id_fkey;
`;

export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw('SELECT quote_ident(current_schema()) AS schema');
  await runStatements(knex, deletion(rows[0].schema));
}
