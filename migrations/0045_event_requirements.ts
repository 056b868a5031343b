import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

// What an event asks of wallets. With the defaults, events of earlier releases ask what they asked before.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `ALTER TABLE events
      ADD COLUMN require_all boolean NOT NULL DEFAULT false,
      ADD COLUMN minimum_balance numeric(78) NOT NULL DEFAULT 1 CHECK (minimum_balance >= 1),
      ADD COLUMN proof_required boolean NOT NULL DEFAULT false,
      ADD COLUMN one_admission_per_token boolean NOT NULL DEFAULT false;`,
  );
}

export { down } from '../src/db/schema/forward-only.ts';
