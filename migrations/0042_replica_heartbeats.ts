import type { Knex } from 'knex';

/**
 * Heartbeats of processes that read from a replica of the database: whatever was committed before one is on a replica that
 * shows it. Of a row that is changed each second, the versions stay on one page.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE replica_heartbeats (
      process uuid PRIMARY KEY,
      beat integer NOT NULL,
      beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) WITH (fillfactor = 20)
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
