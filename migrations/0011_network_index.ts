import type { Knex } from 'knex';

/** How a network of the provider `indexer` is indexed. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE networks
      ADD COLUMN index_from bigint NOT NULL DEFAULT 0 CHECK (index_from >= 0),
      ADD COLUMN index_traces text NOT NULL DEFAULT 'none' CHECK (index_traces IN ('debug', 'trace', 'none'));
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
