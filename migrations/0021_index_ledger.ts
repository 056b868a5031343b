import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * What a block credits outside of its transactions, running sums of the native asset, and approvals; how many calls a
 * transaction makes inside; and what a wallet had of a token before the index began.
 */
const ledger = `
  ALTER TABLE wallet_history ADD COLUMN IF NOT EXISTS internal_calls integer;

  -- The kind comes before the block, so that a page of some kinds is a range of the key for each.
  CREATE TABLE IF NOT EXISTS block_credits (
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
  CREATE TABLE IF NOT EXISTS native_sums (
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
  CREATE TABLE IF NOT EXISTS approval_changes (
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
  CREATE TABLE IF NOT EXISTS wallet_approvals (
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
`;

// Of an ERC-1155 only the contract tells, so null is not known yet. `start_tries` counts how often it gave no answer.
const starts = `
  ALTER TABLE nft_holdings
    ADD COLUMN IF NOT EXISTS start_amount numeric,
    ADD COLUMN IF NOT EXISTS start_tries smallint NOT NULL DEFAULT 0;
`;

// `nft_holdings_started` and `nft_changes_gains` serve lists as of a block.
const indexes = {
  approval_changes_wallet_block: 'approval_changes (chain_id, wallet, block_number)',
  wallet_approvals_live: 'wallet_approvals (chain_id, wallet, contract, kind, token_id, party) WHERE granted',
  nft_holdings_unstarted:
    'nft_holdings (chain_id, start_tries, wallet) WHERE standard = 1155 AND start_amount IS NULL',
  nft_holdings_started: 'nft_holdings (chain_id, wallet, contract, token_id) WHERE start_amount > 0',
  nft_changes_gains:
    'nft_changes (chain_id, wallet, block_number, log_index, contract, token_id) WHERE gained',
};

// Cut off half-way, it is run again.
export async function up(knex: Knex): Promise<void> {
  for (const part of [ledger, starts]) await knex.transaction((tx) => runStatements(tx, part));
  await buildIndexes(knex, indexes);
}

export const config = { transaction: false };
