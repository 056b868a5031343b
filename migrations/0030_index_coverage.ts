import type { Knex } from 'knex';

/** What the blocks of an index hold that is in no transaction, counted as it was seen. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE index_state ADD COLUMN withdrawals bigint NOT NULL DEFAULT 0;
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
