import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

export { down } from '../src/db/forward-only.ts';

/*
 * A process that only serves callers creates NFTs as unclaimed or queued, and queues those that are unclaimed or failed. Rights on
 * columns cannot say so. The conditions of the triggers are false for all that such a process does, so its statements pay nothing;
 * a worker, which may do more, calls the function for each row.
 */
const guard = `
  CREATE FUNCTION refuse_mint_state() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    owner oid := (SELECT relowner FROM pg_class WHERE oid = TG_RELID);
  BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'tallystick_api' AND pg_has_role(session_user, oid, 'MEMBER'))
      AND NOT pg_has_role(session_user, owner, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname IN ('tallystick_worker', 'tallystick_operator')
        AND pg_has_role(session_user, oid, 'MEMBER')) THEN
      RAISE EXCEPTION 'permission denied: % may only queue NFTs that are unclaimed or failed', session_user
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER nfts_state_of_new BEFORE INSERT ON nfts
    FOR EACH ROW WHEN (NEW.mint_state NOT IN ('unclaimed', 'queued')) EXECUTE FUNCTION refuse_mint_state();
  CREATE TRIGGER nfts_state_of_old BEFORE UPDATE ON nfts
    FOR EACH ROW WHEN (NOT (OLD.mint_state IN ('unclaimed', 'failed') AND NEW.mint_state = 'queued'))
    EXECUTE FUNCTION refuse_mint_state();
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, guard);
}
