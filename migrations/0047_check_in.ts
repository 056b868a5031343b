import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * Admission at the door, and the tickets of removed attendees. `ticket_id` is `seq` of the attendee. A trigger writes the rows, so
 * that the last release cannot forget them. The row of the event is locked meanwhile, so `seq` is the order of removal. A deleted event
 * takes its rows along and adds none.
 */
const tickets = (schema: string) => `
  CREATE TABLE revoked_tickets (
    event_id uuid NOT NULL REFERENCES events ON DELETE CASCADE,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    ticket_id bigint NOT NULL,
    attendee_id text NOT NULL,
    revoked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, seq)
  );
  -- After events, as all who lock both.
  ALTER TABLE attendees ADD COLUMN checked_in_at timestamptz;
  CREATE FUNCTION revoke_tickets() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
    BEGIN
      INSERT INTO revoked_tickets (event_id, ticket_id, attendee_id)
      SELECT r.event_id, r.seq, r.attendee_id FROM removed_rows r JOIN events e ON e.id = r.event_id ORDER BY r.seq;
      RETURN NULL;
    END $$;
  REVOKE EXECUTE ON FUNCTION revoke_tickets() FROM PUBLIC;
  CREATE TRIGGER attendees_revoke_tickets AFTER DELETE ON attendees
    REFERENCING OLD TABLE AS removed_rows FOR EACH STATEMENT EXECUTE FUNCTION revoke_tickets();
`;

export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw('SELECT quote_ident(current_schema()) AS schema');
  await runStatements(knex, tickets(rows[0].schema));
}
