import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * All scans at the door. `attendee_id` of an undo is that of the scan that it takes back; null until that scan is there, since an undo
 * may come first. A removed attendee takes the scans along. Times have whole milliseconds, so that the service and the database put scans
 * into the same order. `eligible` is the verdict of `recheckAtCheckin`; null where nobody asked for it.
 */
const table = `
  -- After events, as all who lock both.
  LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE;
  LOCK TABLE attendees IN SHARE ROW EXCLUSIVE MODE;
  CREATE TABLE checkin_scans (
    event_id uuid NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    scan_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('entry', 'exit', 'undo')),
    at timestamptz NOT NULL CHECK (at = date_trunc('milliseconds', at)),
    gate text CHECK (length(gate) BETWEEN 1 AND 64),
    attendee_id text,
    undoes uuid,
    eligible boolean,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, seq),
    UNIQUE (event_id, scan_id),
    CHECK ((kind = 'undo') = (undoes IS NOT NULL)),
    CHECK (kind = 'undo' OR attendee_id IS NOT NULL),
    FOREIGN KEY (event_id, attendee_id) REFERENCES attendees ON DELETE CASCADE
  );
  CREATE INDEX checkin_scans_of_attendee ON checkin_scans (event_id, attendee_id, at, scan_id);
  CREATE INDEX checkin_scans_undone ON checkin_scans (event_id, undoes) WHERE undoes IS NOT NULL;
  CREATE INDEX checkin_scans_of_nobody ON checkin_scans (event_id) WHERE attendee_id IS NULL;
`;

/*
 * 0.2.0 knows no scans, and stores an admission in `checked_in_at` alone. The first trigger writes the scan of each such admission. This
 * release writes the scan first. The second trigger writes the news.
 */
const admissions = (schema: string) => `
  CREATE FUNCTION write_checkin_scans() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
    BEGIN
      INSERT INTO checkin_scans (event_id, scan_id, kind, at, attendee_id)
      SELECT n.event_id, gen_random_uuid(), 'entry', date_trunc('milliseconds', n.checked_in_at), n.attendee_id
      FROM new_rows n JOIN old_rows o USING (event_id, attendee_id)
      WHERE o.checked_in_at IS NULL AND n.checked_in_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM checkin_scans s
        WHERE s.event_id = n.event_id AND s.attendee_id = n.attendee_id AND s.kind = 'entry' AND s.eligible IS NOT FALSE
          AND s.at = date_trunc('milliseconds', n.checked_in_at)
          AND NOT EXISTS (SELECT FROM checkin_scans u WHERE u.event_id = s.event_id AND u.undoes = s.scan_id));
      RETURN NULL;
    END $$;
  CREATE FUNCTION write_checkin_news() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp SET enable_nestloop = off AS $$
    BEGIN
      INSERT INTO news (company_id, type, subject, data)
      SELECT n.company_id, CASE WHEN o.checked_in_at IS NULL THEN 'attendee.checked_in' ELSE 'attendee.checkin_corrected' END,
        n.event_id, jsonb_build_object('eventId', n.event_id, 'attendeeId', n.attendee_id, 'checkedInAt',
          to_char(n.checked_in_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      FROM new_rows n JOIN old_rows o USING (event_id, attendee_id)
      WHERE n.checked_in_at IS DISTINCT FROM o.checked_in_at ORDER BY n.seq;
      RETURN NULL;
    END $$;
  REVOKE EXECUTE ON FUNCTION write_checkin_scans(), write_checkin_news() FROM PUBLIC;
  CREATE TRIGGER attendees_checkin_scans AFTER UPDATE ON attendees
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_checkin_scans();
  CREATE TRIGGER attendees_news_of_checkin AFTER UPDATE ON attendees
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_checkin_news();
`;

/*
 * A deleted event takes its scans along. Where there are more than a request deletes, a worker deletes them before the attendees, in the
 * same batches: a foreign key would delete all scans of an attendee at once.
 */
const deletion = (schema: string) => `
  CREATE OR REPLACE FUNCTION delete_attendees() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
    BEGIN
      IF OLD.total_attendees <= 10000
        AND (SELECT count(*) FROM (SELECT FROM checkin_scans WHERE event_id = OLD.id LIMIT 20001) few) <= 20000 THEN
        DELETE FROM checkin_scans WHERE event_id = OLD.id;
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
        DELETE FROM checkin_scans WHERE event_id = event.event_id AND seq IN (
          SELECT seq FROM checkin_scans WHERE event_id = event.event_id ORDER BY seq LIMIT most - total);
        GET DIAGNOSTICS gone = ROW_COUNT;
        total := total + gone;
        CONTINUE WHEN gone > 0;
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
`;

export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw('SELECT quote_ident(current_schema()) AS schema');
  const [{ schema }] = rows;
  await runStatements(knex, `${table}${admissions(schema)}${deletion(schema)}`);
}
