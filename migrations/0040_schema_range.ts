import type { Knex } from 'knex';

/**
 * Which releases may run on the schema, told by the one that migrated last: those that know the migration `needs`. An
 * older release that knows it starts, although it does not know what came after.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE schema_range (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      migrated_by text NOT NULL,
      needs text NOT NULL,
      oldest_release text NOT NULL
    )
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
