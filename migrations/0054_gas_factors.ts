import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

/*
 * By how much the gas of a transaction was above its estimate. Several in flight run out of gas for one cause: only one
 * with the present factor of its contract shows that the factor is too low.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    'ALTER TABLE mint_transactions ADD COLUMN gas_factor integer NOT NULL DEFAULT 1;',
  );
}

export { down } from '../src/db/schema/forward-only.ts';
