import type { Knex } from 'knex';

/** Removing a network looks for the budgets on it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE INDEX company_gas_budgets_chain ON company_gas_budgets (chain_id)');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
