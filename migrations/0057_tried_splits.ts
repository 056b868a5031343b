import type { Knex } from 'knex';

/*
 * When counting a stretch by its parts failed last: one that has too many rows for the time of a statement waits, so that all
 * others come before it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE list_splits ADD COLUMN IF NOT EXISTS tried_at timestamptz');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
