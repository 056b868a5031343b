import type { Knex } from 'knex';

/*
 * What one statement changes, it changes at one moment: the counters by time take one entry for a batch then, instead of two
 * for each of its rows, which took them as long as the rows themselves. A row that has changed since the statement began was
 * waited for, and its time must not go back.
 */
const touch = `
  CREATE OR REPLACE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.updated_at := CASE WHEN statement_timestamp() > OLD.updated_at THEN statement_timestamp()
      ELSE clock_timestamp() END;
    RETURN NEW;
  END $$;
`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(touch);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
