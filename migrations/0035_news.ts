import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * What changed, for programs of partners that follow it. Each change writes its row in its own transaction; a worker numbers
 * committed rows, densely for each company. `seq` orders the rows of a subject: a transaction changes it under its lock.
 * No index finds a row by `id`: receivers compare it, and nothing else does.
 */
const tables = `
  CREATE TABLE news (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    company_id text NOT NULL,
    type text NOT NULL,
    subject uuid NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    position bigint,
    PRIMARY KEY (subject, seq)
  );
  CREATE INDEX news_unnumbered ON news (seq) WHERE position IS NULL;
  CREATE UNIQUE INDEX news_in_order ON news (company_id, position) WHERE position IS NOT NULL;

  CREATE TABLE news_feeds (
    company_id text PRIMARY KEY,
    last_position bigint NOT NULL
  );
`;

/*
 * Triggers write the rows, so that no path can forget it: a request, a worker, a repair, an import, an operator. They have the
 * rights of the owner, so that nothing depends on those of the role that changes a row. `enable_nestloop`: PostgreSQL keeps the plan of the first
 * call, and one that it made for a single row would compare each of 10,000 rows with each.
 */
const ofNfts = (schema: string) => `
  CREATE FUNCTION write_nft_news() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp SET enable_nestloop = off AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO news (company_id, type, subject, data)
        SELECT company_id, 'nft.' || mint_state, id, jsonb_build_object('nftId', id, 'rwaId', rwa_id, 'state', mint_state)
        FROM new_rows WHERE mint_state <> 'unclaimed' ORDER BY serial;
        RETURN NULL;
      END IF;
      -- A reorganisation, or a repair after a restore, took a mint back.
      INSERT INTO news (company_id, type, subject, data)
      SELECT o.company_id, 'nft.reverted', n.id, jsonb_build_object('nftId', n.id, 'rwaId', n.rwa_id, 'state', n.mint_state,
        'corrects', (SELECT m.id FROM news m WHERE m.subject = n.id AND m.type = 'nft.minted' ORDER BY m.seq DESC LIMIT 1))
      FROM new_rows n JOIN old_rows o USING (id)
      WHERE o.mint_state = 'minted'
        AND (n.mint_state, n.minted_tx, n.minted_block) IS DISTINCT FROM ('minted', o.minted_tx, o.minted_block);
      INSERT INTO news (company_id, type, subject, data)
      SELECT n.company_id, CASE n.mint_state WHEN 'unclaimed' THEN 'nft.cancelled' ELSE 'nft.' || n.mint_state END, n.id,
        jsonb_build_object('nftId', n.id, 'rwaId', n.rwa_id, 'state', n.mint_state)
      FROM new_rows n JOIN old_rows o USING (id)
      WHERE CASE o.mint_state
          WHEN 'minted' THEN n.mint_state = 'minted'
            AND (n.minted_tx, n.minted_block) IS DISTINCT FROM (o.minted_tx, o.minted_block)
          ELSE n.mint_state <> o.mint_state END
        OR (n.company_id <> o.company_id AND n.mint_state <> 'unclaimed');
      RETURN NULL;
    END $$;
`;

const ofEvents = (schema: string) => `
  CREATE FUNCTION write_event_news() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp SET enable_nestloop = off AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO news (company_id, type, subject, data)
        SELECT company_id, 'event.created', id, jsonb_build_object('eventId', id) FROM new_rows
        UNION ALL
        SELECT company_id, 'event.full', id, jsonb_build_object('eventId', id) FROM new_rows WHERE max_attendees = 0;
      ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO news (company_id, type, subject, data)
        SELECT company_id, 'event.deleted', id, jsonb_build_object('eventId', id) FROM old_rows;
      ELSE
        INSERT INTO news (company_id, type, subject, data)
        SELECT c.company_id, c.type, n.id, jsonb_build_object('eventId', n.id)
        FROM new_rows n JOIN old_rows o USING (id) CROSS JOIN LATERAL (VALUES
          (o.company_id, 'event.deleted', n.company_id <> o.company_id),
          (n.company_id, 'event.created', n.company_id <> o.company_id),
          (n.company_id, 'event.updated', n.company_id = o.company_id AND n.version <> o.version),
          (n.company_id, 'event.full', n.total_attendees >= n.max_attendees AND (o.total_attendees >= o.max_attendees) IS NOT TRUE)
        ) c (company_id, type, is_so) WHERE c.is_so;
      END IF;
      RETURN NULL;
    END $$;

  CREATE FUNCTION write_attendee_news() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
    BEGIN
      INSERT INTO news (company_id, type, subject, data)
      SELECT company_id, CASE TG_OP WHEN 'INSERT' THEN 'attendee.added' ELSE 'attendee.removed' END, event_id,
        jsonb_build_object('eventId', event_id, 'attendeeId', attendee_id) FROM changed_rows ORDER BY seq;
      RETURN NULL;
    END $$;

  REVOKE EXECUTE ON FUNCTION write_nft_news(), write_event_news(), write_attendee_news() FROM PUBLIC;
`;

const triggersOf: Readonly<Record<string, string>> = {
  nfts: `
    CREATE TRIGGER nfts_news_of_new AFTER INSERT ON nfts
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_nft_news();
    CREATE TRIGGER nfts_news AFTER UPDATE ON nfts
      REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_nft_news();
  `,
  events: `
    CREATE TRIGGER events_news_of_new AFTER INSERT ON events
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_event_news();
    CREATE TRIGGER events_news AFTER UPDATE ON events
      REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_event_news();
    CREATE TRIGGER events_news_of_deleted AFTER DELETE ON events
      REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION write_event_news();
  `,
  attendees: `
    CREATE TRIGGER attendees_news_of_new AFTER INSERT ON attendees
      REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION write_attendee_news();
    CREATE TRIGGER attendees_news_of_deleted AFTER DELETE ON attendees
      REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION write_attendee_news();
  `,
};

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, tables);
  const { rows } = await knex.raw('SELECT quote_ident(current_schema()) AS schema');
  for (const part of [ofNfts, ofEvents]) await runStatements(knex, part(rows[0].schema));
  for (const part of Object.values(triggersOf)) await runStatements(knex, part);
}
