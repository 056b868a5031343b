import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/**
 * Why transfers may be believed, by the index of their logs, where that is not plain from the transaction; and the blocks
 * with transfers whose contract is still to be asked about its balances.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE wallet_history ADD COLUMN verdicts json;

    CREATE TABLE transfer_checks (
      chain_id bigint NOT NULL,
      block_number bigint NOT NULL,
      block_hash bytea NOT NULL,
      transfers json NOT NULL,
      tries smallint NOT NULL DEFAULT 0,
      due timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (chain_id, block_number)
    );
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
