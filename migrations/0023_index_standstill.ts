import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/**
 * An index that cannot go on says why, and an operator may leave a block out; transactions that a network lists without
 * a receipt are counted.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE index_state
      ADD COLUMN without_receipt bigint NOT NULL DEFAULT 0,
      ADD COLUMN stuck_at bigint,
      ADD COLUMN stuck_reason text,
      ADD COLUMN stuck_since timestamptz;

    -- Blocks up to the head of the index are missing in it; those above it are to be left out.
    CREATE TABLE index_skipped_blocks (
      chain_id bigint NOT NULL,
      block_number bigint NOT NULL CHECK (block_number >= 0),
      reason text NOT NULL,
      skipped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (chain_id, block_number)
    );
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
