import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * The attendees of a deleted event went by its foreign key, in the same statement: those of an event with millions did not end in
 * its time, and the event could never be deleted. A trigger deletes them up to 10,000; where there are more, the event is noted, and
 * a worker deletes them in batches, by a function: it may not see attendees. Nothing reads attendees without their event, and they are added under its lock only.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    -- In the order of all who take both: a trigger and a foreign key would take them in the other one.
    LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
    LOCK TABLE attendees IN ACCESS EXCLUSIVE MODE;
    CREATE TABLE deleted_events (
      event_id uuid PRIMARY KEY,
      company_id text NOT NULL,
      deleted_at timestamptz NOT NULL DEFAULT now(),
      purged_to bigint NOT NULL DEFAULT 0
    );
    CREATE FUNCTION delete_attendees() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
      IF OLD.total_attendees <= 10000 THEN
        DELETE FROM attendees WHERE company_id = OLD.company_id AND event_id = OLD.id;
      ELSE
        INSERT INTO deleted_events (event_id, company_id) VALUES (OLD.id, OLD.company_id);
      END IF;
      RETURN NULL;
    END $$;
    CREATE FUNCTION purge_attendees(most integer) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
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
    CREATE TRIGGER delete_attendees AFTER DELETE ON events FOR EACH ROW EXECUTE FUNCTION delete_attendees();
    ALTER TABLE attendees DROP CONSTRAINT attendees_company_id_event_id_fkey;
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
