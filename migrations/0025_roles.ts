import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// The release that migrated last says which releases may run on the schema: those that know the migration `needs`.
// An older release that knows it starts, although it does not know what came after.
const range = `
  CREATE TABLE IF NOT EXISTS schema_range (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    migrated_by text NOT NULL,
    needs text NOT NULL,
    oldest_release text NOT NULL
  );
`;

// The parts of `rpc_urls` that carry credentials, sealed: one element for each URL, null where it is in clear. Then `rpc_urls` has
// the public part only. The next write, or `network seal`, seals rows that are there.
const sealed = `
  ALTER TABLE networks ADD COLUMN IF NOT EXISTS rpc_sealed text[];
`;

/*
 * A process that only serves callers creates NFTs as unclaimed or queued, and queues those that are unclaimed or failed. Rights on
 * columns cannot say so. The conditions of the triggers are false for all that such a process does, so its statements pay nothing;
 * a worker, which may do more, calls the function for each row.
 */
const states = `
  CREATE OR REPLACE FUNCTION refuse_mint_state() RETURNS trigger LANGUAGE plpgsql
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
  CREATE OR REPLACE TRIGGER nfts_state_of_new BEFORE INSERT ON nfts
    FOR EACH ROW WHEN (NEW.mint_state NOT IN ('unclaimed', 'queued')) EXECUTE FUNCTION refuse_mint_state();
  CREATE OR REPLACE TRIGGER nfts_state_of_old BEFORE UPDATE ON nfts
    FOR EACH ROW WHEN (NOT (OLD.mint_state IN ('unclaimed', 'failed') AND NEW.mint_state = 'queued'))
    EXECUTE FUNCTION refuse_mint_state();
`;

// Each part locks one table at most, and for a moment. Cut off half-way, the migration is run again.
export async function up(knex: Knex): Promise<void> {
  for (const part of [range, sealed, states]) await knex.transaction((tx) => runStatements(tx, part));
}

export const config = { transaction: false };
