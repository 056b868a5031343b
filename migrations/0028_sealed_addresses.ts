import type { Knex } from 'knex';

/**
 * The parts of `rpc_urls` that carry credentials, sealed, one element for each URL, null where it is in clear. Then
 * `rpc_urls` has the public part only. Rows that are there are sealed at their next write, or by `network seal`.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE networks ADD COLUMN rpc_sealed text[]');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
