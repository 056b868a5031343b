import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

const progress = `
  CREATE TABLE index_state (
    chain_id bigint PRIMARY KEY,
    start_block bigint NOT NULL CHECK (start_block >= 0),
    head_number bigint,
    head_hash bytea,
    head_time timestamptz,
    finalized_number bigint NOT NULL DEFAULT -1,
    node_head bigint,
    internal_transfers text NOT NULL DEFAULT 'none' CHECK (internal_transfers IN ('debug', 'trace', 'none')),
    untraced_blocks bigint NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL DEFAULT now()
  );

  -- Blocks that may still be replaced, and which wallets to roll back then. Final ones are deleted.
  CREATE TABLE index_blocks (
    chain_id bigint NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL CHECK (length(hash) = 32),
    parent_hash bytea NOT NULL CHECK (length(parent_hash) = 32),
    block_time timestamptz NOT NULL,
    wallets bytea[] NOT NULL,
    PRIMARY KEY (chain_id, number)
  );

  CREATE TABLE index_skipped_logs (
    chain_id bigint NOT NULL,
    block_number bigint NOT NULL,
    log_index integer NOT NULL,
    contract bytea NOT NULL,
    topic bytea NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (chain_id, block_number, log_index)
  );
`;

// The built-in index. The three tables that grow without end (wallet_history, nft_changes, nft_holdings) have
// the wallet in their primary key and no foreign keys, so that they can be partitioned or distributed by it
// and every page query stays within one part. Addresses and hashes are bytes, half the size of their text.
const wallets = `
  -- json, not jsonb: nobody asks inside, and it is stored and sent as it was written.
  CREATE TABLE wallet_history (
    chain_id bigint NOT NULL,
    wallet bytea NOT NULL,
    block_number bigint NOT NULL,
    tx_index integer NOT NULL,
    tx_hash bytea NOT NULL,
    block_hash bytea NOT NULL,
    block_time timestamptz NOT NULL,
    tx json NOT NULL,
    moves json,
    PRIMARY KEY (chain_id, wallet, block_number, tx_index)
  );

  -- Every change of what a wallet owns, for rolling back and for a list that stands still while it is walked.
  CREATE TABLE nft_changes (
    chain_id bigint NOT NULL,
    wallet bytea NOT NULL,
    contract bytea NOT NULL,
    token_id numeric(78) NOT NULL,
    block_number bigint NOT NULL,
    log_index integer NOT NULL,
    part integer NOT NULL,
    standard smallint NOT NULL CHECK (standard IN (721, 1155)),
    delta numeric(80) NOT NULL,
    gained boolean NOT NULL,
    PRIMARY KEY (chain_id, wallet, contract, token_id, block_number, log_index, part)
  );
  CREATE INDEX nft_changes_wallet_block ON nft_changes (chain_id, wallet, block_number);

  -- An amount below zero tells of tokens that the wallet had before the index began.
  CREATE TABLE nft_holdings (
    chain_id bigint NOT NULL,
    wallet bytea NOT NULL,
    contract bytea NOT NULL,
    token_id numeric(78) NOT NULL,
    standard smallint NOT NULL CHECK (standard IN (721, 1155)),
    amount numeric NOT NULL,
    acquired_block bigint,
    acquired_log integer,
    changed_block bigint NOT NULL,
    PRIMARY KEY (chain_id, wallet, contract, token_id)
  );
  CREATE INDEX nft_holdings_list ON nft_holdings
    (chain_id, wallet, acquired_block, acquired_log, contract, token_id) WHERE amount > 0;
`;

const tokens = `
  CREATE TABLE token_contracts (
    chain_id bigint NOT NULL,
    contract bytea NOT NULL,
    standard smallint NOT NULL CHECK (standard IN (20, 721, 1155)),
    name text,
    symbol text,
    decimals smallint,
    read_at timestamptz,
    PRIMARY KEY (chain_id, contract)
  );
  CREATE INDEX token_contracts_unread ON token_contracts (chain_id) WHERE read_at IS NULL;

  CREATE TABLE nft_tokens (
    chain_id bigint NOT NULL,
    contract bytea NOT NULL,
    token_id numeric(78) NOT NULL,
    standard smallint NOT NULL CHECK (standard IN (721, 1155)),
    minted_block bigint,
    minter bytea,
    token_uri text,
    uri_read_at timestamptz,
    metadata text,
    metadata_read_at timestamptz,
    PRIMARY KEY (chain_id, contract, token_id)
  );
  CREATE INDEX nft_tokens_unread ON nft_tokens (chain_id) WHERE uri_read_at IS NULL;
  CREATE INDEX nft_tokens_bare ON nft_tokens (chain_id) WHERE token_uri IS NOT NULL AND metadata_read_at IS NULL;
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, progress);
  await runStatements(knex, wallets);
  await runStatements(knex, tokens);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
