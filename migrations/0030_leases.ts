import type { Knex } from 'knex';

/**
 * Leases of what one process does at a time, such as keeping the index of a network. They end by the clock, also where
 * the connection of their holder stays open for ever. The fence grows with each holder.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE leases (
      name text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
      fence bigint NOT NULL,
      holder text NOT NULL,
      taken_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL
    )
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
