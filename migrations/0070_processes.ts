import type { Knex } from 'knex';

export { down } from '../src/db/forward-only.ts';

/**
 * A row for each process of the service, which it renews every 15 s and deletes when it stops, so that operators see which roles
 * have a process. Of a row that is changed so often, the versions stay on one page.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE processes (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      roles text[] NOT NULL,
      version text NOT NULL,
      started_at timestamptz NOT NULL,
      seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) WITH (fillfactor = 20)
  `);
}
