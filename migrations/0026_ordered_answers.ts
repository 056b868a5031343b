import type { Knex } from 'knex';

/**
 * The answer that a repeated request is given again, with its fields in the order of the first answer: `json` keeps it,
 * `jsonb` does not. `answer` stays for processes of the release before.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE idempotency_records ADD COLUMN ordered_answer json');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
