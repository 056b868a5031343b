import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/**
 * What a block credits outside of its transactions, running sums of the native asset, and approvals; the number of calls
 * inside a transaction. An index that began before knows them from `ledger_from` on. A release that does not know of
 * them leaves `ledger_head` where it is, and the next writer begins them anew.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE index_state
      ADD COLUMN ledger_from bigint,
      ADD COLUMN ledger_head bytea,
      ADD COLUMN rewards bigint NOT NULL DEFAULT 0,
      ADD COLUMN unrewarded_blocks bigint NOT NULL DEFAULT 0;

    ALTER TABLE wallet_history ADD COLUMN internal_calls integer;

    -- The kind comes before the block, so that a page of some kinds is a range of the key for each.
    CREATE TABLE block_credits (
      chain_id bigint NOT NULL,
      wallet bytea NOT NULL,
      kind smallint NOT NULL CHECK (kind BETWEEN 1 AND 4),
      block_number bigint NOT NULL,
      place integer NOT NULL,
      block_hash bytea NOT NULL,
      block_time timestamptz NOT NULL,
      amount numeric(78) NOT NULL,
      validator_index numeric(20),
      withdrawal_index numeric(20),
      PRIMARY KEY (chain_id, wallet, kind, block_number, place)
    );

    -- Movements may come to less than nothing where the index began later than the wallet.
    CREATE TABLE native_sums (
      chain_id bigint NOT NULL,
      wallet bytea NOT NULL,
      moved numeric(80) NOT NULL,
      fees numeric(80) NOT NULL,
      unknown_fees bigint NOT NULL,
      withdrawals numeric(80) NOT NULL,
      rewards numeric(80) NOT NULL,
      PRIMARY KEY (chain_id, wallet)
    );

    -- Kinds are 1 amount, 2 token, 3 all. One account may move a token, many an amount or all: then they are the party.
    CREATE TABLE approval_changes (
      chain_id bigint NOT NULL,
      wallet bytea NOT NULL,
      contract bytea NOT NULL,
      kind smallint NOT NULL CHECK (kind BETWEEN 1 AND 3),
      token_id numeric(78) NOT NULL,
      party bytea NOT NULL,
      block_number bigint NOT NULL,
      log_index integer NOT NULL,
      spender bytea NOT NULL,
      amount numeric(78) NOT NULL,
      granted boolean NOT NULL,
      PRIMARY KEY (chain_id, wallet, contract, kind, token_id, party, block_number, log_index)
    );
    CREATE INDEX approval_changes_wallet_block ON approval_changes (chain_id, wallet, block_number);

    CREATE TABLE wallet_approvals (
      chain_id bigint NOT NULL,
      wallet bytea NOT NULL,
      contract bytea NOT NULL,
      kind smallint NOT NULL CHECK (kind BETWEEN 1 AND 3),
      token_id numeric(78) NOT NULL,
      party bytea NOT NULL,
      spender bytea NOT NULL,
      amount numeric(78) NOT NULL,
      granted boolean NOT NULL,
      changed_block bigint NOT NULL,
      changed_log integer NOT NULL,
      PRIMARY KEY (chain_id, wallet, contract, kind, token_id, party)
    );
    CREATE INDEX wallet_approvals_live ON wallet_approvals (chain_id, wallet, contract, kind, token_id, party)
      WHERE granted;
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
