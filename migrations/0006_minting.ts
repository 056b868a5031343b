import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

/*
 * What is minted, by which transaction, and who may write it. The rules that must hold whatever a process
 * believes stand here: a nonce is used once, an NFT is in one unresolved transaction at most, and bytes that
 * were signed have a row before they leave.
 */
const queue = `
  ALTER TABLE nfts ADD COLUMN queued_at timestamptz, ADD COLUMN mint_chain_id bigint;
  CREATE INDEX nfts_queue ON nfts (mint_chain_id, queued_at, id) WHERE mint_state = 'queued';
`;

// A lane is one signer on one network. Whoever holds its lease writes its rows, with the lease's fence: a
// number that grows with each holder, so one who was too slow is recognised and refused.
const lanes = `
  CREATE TABLE mint_lanes (
    chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
    signer text NOT NULL CHECK (signer ~ '^0x[0-9a-fA-F]{40}$'),
    fence bigint NOT NULL DEFAULT 0,
    holder text,
    expires_at timestamptz,
    stopped_by_operator boolean NOT NULL DEFAULT false,
    pause_reason text,
    pause_detail text,
    paused_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (chain_id, signer),
    CHECK ((pause_reason IS NULL) = (paused_at IS NULL))
  );
`;

// submitted: signed and stored, sent or about to be. confirmed: deep enough for its NFTs to count as minted.
// finalized, reverted and lost are ends: nothing can change them any more.
const transactions = `
  CREATE TABLE mint_transactions (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    chain_id bigint NOT NULL,
    signer text NOT NULL,
    nonce bigint NOT NULL CHECK (nonce >= 0),
    contract text NOT NULL,
    gas_limit bigint NOT NULL,
    state text NOT NULL DEFAULT 'submitted'
      CHECK (state IN ('submitted', 'confirmed', 'finalized', 'reverted', 'lost')),
    mined_hash text,
    block_number numeric(78),
    block_hash text,
    fence bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (chain_id, signer, nonce),
    FOREIGN KEY (chain_id, signer) REFERENCES mint_lanes,
    CHECK ((state IN ('confirmed', 'finalized', 'reverted')) = (block_number IS NOT NULL)),
    CHECK ((block_number IS NULL) = (block_hash IS NULL) AND (block_number IS NULL) = (mined_hash IS NULL))
  );
  CREATE INDEX mint_transactions_open ON mint_transactions (chain_id, signer, nonce)
    WHERE state IN ('submitted', 'confirmed');

  CREATE TABLE mint_attempts (
    transaction_id uuid NOT NULL REFERENCES mint_transactions,
    number integer NOT NULL CHECK (number > 0),
    hash text NOT NULL UNIQUE,
    raw bytea NOT NULL,
    max_fee_per_gas numeric(78) NOT NULL,
    max_priority_fee_per_gas numeric(78),
    sent_at_block numeric(78) NOT NULL,
    fence bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (transaction_id, number)
  );
`;

// found_*: where the contract passed an id over, the earlier mint that it was passed over for.
const links = `
  CREATE TABLE mint_transaction_nfts (
    transaction_id uuid NOT NULL REFERENCES mint_transactions,
    nft_id uuid NOT NULL REFERENCES nfts,
    token_id numeric(78) NOT NULL,
    recipient text NOT NULL,
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'minted', 'failed', 'released')),
    found_tx text,
    found_block numeric(78),
    found_block_hash text,
    PRIMARY KEY (transaction_id, nft_id)
  );
  CREATE UNIQUE INDEX mint_transaction_nfts_unresolved ON mint_transaction_nfts (nft_id) WHERE state = 'open';
  CREATE INDEX mint_transaction_nfts_of_nft ON mint_transaction_nfts (nft_id);
`;

const secretAttempts = `
  CREATE TABLE secret_attempts (
    nft_id uuid PRIMARY KEY REFERENCES nfts,
    wrong integer NOT NULL CHECK (wrong > 0),
    window_ends_at timestamptz NOT NULL
  );
  CREATE INDEX secret_attempts_expiry ON secret_attempts (window_ends_at);
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [queue, lanes, transactions, links, secretAttempts]) await runStatements(knex, part);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
