import type { Knex } from 'knex';

/** What an indexer tells operators: its pace over the last seconds, and why it does not get on. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE index_state
      ADD COLUMN last_error text,
      ADD COLUMN last_error_at timestamptz,
      ADD COLUMN pace_from bigint,
      ADD COLUMN pace_since timestamptz,
      ADD COLUMN blocks_per_second double precision;
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
