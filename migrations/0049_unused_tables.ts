import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

// No release has used it. Databases that a state between releases has migrated have it.
export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, 'DROP TABLE IF EXISTS mint_contract_origins;');
}

export { down } from '../src/db/schema/forward-only.ts';
