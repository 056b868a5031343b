import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * When the node of an index last had a block that the index had not. A node that stands still, or is below the index, answers all the
 * same, so `updated_at` says nothing of it.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, 'ALTER TABLE index_state ADD COLUMN new_block_at timestamptz');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
