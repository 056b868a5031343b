import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * What a process that serves stores in the audit log is of keys and holders: an entry of an operator is refused to the users of
 * its groups, unless they are operators or own the table as well.
 */
const guard = `
  CREATE OR REPLACE FUNCTION refuse_forged_operator() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    owner oid := (SELECT relowner FROM pg_class WHERE oid = TG_RELID);
  BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname IN ('tallystick_api', 'tallystick_worker', 'tallystick_indexer')
        AND pg_has_role(session_user, oid, 'MEMBER'))
      AND NOT pg_has_role(session_user, owner, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tallystick_operator'
        AND pg_has_role(session_user, oid, 'MEMBER')) THEN
      RAISE EXCEPTION 'permission denied: % stores no entries of operators', session_user
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
  END $$;
  DROP TRIGGER IF EXISTS audit_log_actor ON audit_log;
  CREATE TRIGGER audit_log_actor BEFORE INSERT ON audit_log
    FOR EACH ROW WHEN (NEW.actor_kind = 'operator') EXECUTE FUNCTION refuse_forged_operator();
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, guard);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
