import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * What an index says of itself. It counts transactions without a receipt, withdrawals, rewards, and fees that a rollup's receipt
 * does not tell in full. It says why it cannot go on (`stuck_*`), and when its node last had a block that it lacked.
 * An index that began before 0.2.0 knows credits, sums and approvals from `ledger_from` on. A writer of 0.1.0 leaves
 * `ledger_head` where it is; the next writer then begins the ledger again.
 */
const state = `
  ALTER TABLE index_state
    ADD COLUMN without_receipt bigint NOT NULL DEFAULT 0,
    ADD COLUMN stuck_at bigint,
    ADD COLUMN stuck_reason text,
    ADD COLUMN stuck_since timestamptz,
    ADD COLUMN withdrawals bigint NOT NULL DEFAULT 0,
    ADD COLUMN ledger_from bigint,
    ADD COLUMN ledger_head bytea,
    ADD COLUMN rewards bigint NOT NULL DEFAULT 0,
    ADD COLUMN unrewarded_blocks bigint NOT NULL DEFAULT 0,
    ADD COLUMN partial_fees bigint NOT NULL DEFAULT 0,
    ADD COLUMN new_block_at timestamptz;
`;

// An operator may leave a block out. Those up to the head are missing from the index; those above it will be left out.
const skipped = `
  CREATE TABLE index_skipped_blocks (
    chain_id bigint NOT NULL,
    block_number bigint NOT NULL CHECK (block_number >= 0),
    reason text NOT NULL,
    skipped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (chain_id, block_number)
  );
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [state, skipped]) await runStatements(knex, part);
}
