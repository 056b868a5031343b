import type { Knex } from 'knex';

/** How many transactions of a rollup have a receipt that does not tell the fee of the first layer. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE index_state ADD COLUMN partial_fees bigint NOT NULL DEFAULT 0');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
