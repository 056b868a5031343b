import type { Knex } from 'knex';

/*
 * Functions that work by the rights of their owner look for tables in the schema of the service only. A path that does not name
 * the place of temporary tables has it first, so a role could have put its own table before one of the owner's, and with a trigger of
 * that have run anything as the owner. Nobody calls them by a right of everybody; triggers need none.
 */
const ownFunctions = `
  SELECT p.oid::regprocedure AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE n.nspname = current_schema() AND p.prosecdef AND pg_has_role(p.proowner, 'MEMBER')
    AND (p.proname = 'purge_attendees' OR p.oid IN (
      SELECT tgfoid FROM pg_trigger WHERE tgrelid IN ('nfts'::regclass, 'rwas'::regclass, 'events'::regclass)))`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    DECLARE
      function record;
    BEGIN
      FOR function IN ${ownFunctions} LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', function.name, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function.name);
      END LOOP;
    END $$`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
