import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// An archived RWA is in no list unless it is asked for.
const rwas = `
  ALTER TABLE rwas ADD COLUMN IF NOT EXISTS archived_at timestamptz;
  CREATE OR REPLACE TRIGGER rwas_touch BEFORE UPDATE OF name, description, type, image_url, chain_id, contract_address,
    is_buyable, is_claimable, price, currency, data, claim_base_url, archived_at ON rwas
    FOR EACH ROW EXECUTE FUNCTION touch_updated_at();
`;

/**
 * Attendees of a deleted event. A foreign key deleted millions of them in the statement that deleted the event, which did not
 * end in its time. A trigger deletes up to 10,000; where there are more, it notes the event, and a worker deletes them in
 * batches, by a function: it may not see attendees. Nothing reads attendees without their event, and they are added under its
 * lock only.
 *
 * The functions work by the rights of their owner, so they look for tables in the schema of the service only. A path that does
 * not name the place of temporary tables has it first: a role could put its own table before one of the owner's.
 */
const attendees = (schema: string) => `
  -- In the order of all who take both: a trigger and a foreign key would take them in the other one.
  LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
  LOCK TABLE attendees IN ACCESS EXCLUSIVE MODE;
  CREATE TABLE IF NOT EXISTS deleted_events (
    event_id uuid PRIMARY KEY,
    company_id text NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    purged_to bigint NOT NULL DEFAULT 0
  );
  CREATE OR REPLACE FUNCTION delete_attendees() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
    BEGIN
      IF OLD.total_attendees <= 10000 THEN
        DELETE FROM attendees WHERE company_id = OLD.company_id AND event_id = OLD.id;
      ELSE
        INSERT INTO deleted_events (event_id, company_id) VALUES (OLD.id, OLD.company_id);
      END IF;
      RETURN NULL;
    END $$;
  CREATE OR REPLACE FUNCTION purge_attendees(most integer) RETURNS integer LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
    DECLARE
      event deleted_events;
      last bigint;
      gone integer;
      total integer := 0;
    BEGIN
      WHILE total < most LOOP
        SELECT * INTO event FROM deleted_events ORDER BY deleted_at LIMIT 1 FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        SELECT max(seq) INTO last FROM (
          SELECT seq FROM attendees
          WHERE company_id = event.company_id AND event_id = event.event_id AND seq > event.purged_to
          ORDER BY seq LIMIT most - total) batch;
        IF last IS NULL THEN
          DELETE FROM deleted_events WHERE event_id = event.event_id;
          CONTINUE;
        END IF;
        DELETE FROM attendees
        WHERE company_id = event.company_id AND event_id = event.event_id AND seq > event.purged_to AND seq <= last;
        GET DIAGNOSTICS gone = ROW_COUNT;
        total := total + gone;
        UPDATE deleted_events SET purged_to = last WHERE event_id = event.event_id;
      END LOOP;
      RETURN total;
    END $$;
  REVOKE EXECUTE ON FUNCTION delete_attendees(), purge_attendees(integer) FROM PUBLIC;
  CREATE OR REPLACE TRIGGER delete_attendees AFTER DELETE ON events FOR EACH ROW EXECUTE FUNCTION delete_attendees();
  ALTER TABLE attendees DROP CONSTRAINT IF EXISTS attendees_company_id_event_id_fkey;
`;

// Cut off half-way, it is run again.
export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, rwas));
  const { rows } = await knex.raw('SELECT quote_ident(current_schema()) AS schema');
  await knex.transaction((tx) => runStatements(tx, attendees(rows[0].schema)));
}

export const config = { transaction: false };
