import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * What the service needs to compare its rows with the chain. It knows who this deployment is and on which contracts it mints.
 * It stores how far they are compared, what disagrees, and where minting waits for an operator to recover the database.
 */

// Why an accepted NFT does not move. A note comes and goes without a new version of the NFT's row.
const notes = `
  CREATE TABLE IF NOT EXISTS mint_notes (
    nft_id uuid PRIMARY KEY REFERENCES nfts ON DELETE CASCADE,
    reason text NOT NULL CHECK (reason <> ''),
    detail text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;

// node_states: what processes think of each node; the last one that changed its mind counts.
// contract_verdicts: lets the service accept mints without asking a node. Mints on a contract without a row are accepted.
const known = `
  CREATE TABLE IF NOT EXISTS node_states (
    chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
    node text NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (chain_id, node)
  );
  CREATE TABLE IF NOT EXISTS contract_verdicts (
    chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
    contract text NOT NULL CHECK (contract ~ '^0x[0-9a-fA-F]{40}$'),
    verdict text NOT NULL CHECK (verdict IN ('fit', 'forbidden', 'unfit')),
    detail text NOT NULL,
    checked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (chain_id, contract)
  );
`;

// Transactions that have ended, while the outcome of some of their NFTs is still to be proven.
const unproven = `
  CREATE TABLE IF NOT EXISTS mint_unproven_transactions (
    transaction_id uuid PRIMARY KEY REFERENCES mint_transactions ON DELETE CASCADE,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;

// left_out: the mined form has fewer NFTs than the transaction. It did not try these, so this counts as no failure of theirs.
// asked_out: an operator wants the transaction signed again without the NFT.
const links = `
  ALTER TABLE mint_transaction_nfts
    ADD COLUMN IF NOT EXISTS left_out boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS asked_out boolean NOT NULL DEFAULT false;
`;

// shared: tokens of others are among the ids that this deployment would give; nothing is sent to the contract.
// compared_to: all final blocks up to here agree, or their disagreements are stored. recovered_to: tokens without a
// row up to here are known to be lost. A row of mint_recoveries is a flag: lanes of the network send nothing until it is gone.
const contracts = `
  CREATE TABLE IF NOT EXISTS deployment (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    singleton boolean NOT NULL DEFAULT true UNIQUE CHECK (singleton),
    created_at timestamptz NOT NULL DEFAULT now()
  );
  INSERT INTO deployment DEFAULT VALUES ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS mint_contracts (
    chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
    contract text NOT NULL,
    deployment_id uuid NOT NULL,
    state text NOT NULL DEFAULT 'claimed' CHECK (state IN ('claimed', 'shared')),
    detail text,
    first_block numeric(78),
    compared_to numeric(78),
    compared_at timestamptz,
    recovered_to numeric(78),
    claimed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (chain_id, contract)
  );
  INSERT INTO mint_contracts (chain_id, contract, deployment_id)
    SELECT DISTINCT t.chain_id, t.contract, d.id FROM mint_transactions t CROSS JOIN deployment d
    ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS mint_disagreements (
    chain_id bigint NOT NULL,
    contract text NOT NULL,
    token_id numeric(78) NOT NULL,
    kind text NOT NULL,
    nft_id uuid,
    detail text NOT NULL,
    found_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (chain_id, contract, token_id, kind),
    FOREIGN KEY (chain_id, contract) REFERENCES mint_contracts ON DELETE CASCADE
  );
  CREATE TABLE IF NOT EXISTS mint_recoveries (
    chain_id bigint PRIMARY KEY REFERENCES networks ON DELETE CASCADE,
    reason text NOT NULL CHECK (reason IN ('recovery_needed', 'contract_shared')),
    detail text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;

// No ERC-721 contract mints to the zero address. Companies that have it already stay as they are; `tallystick doctor` names them.
const treasuries = `
  ALTER TABLE companies
    DROP CONSTRAINT IF EXISTS companies_treasury_not_zero,
    ADD CONSTRAINT companies_treasury_not_zero
      CHECK (treasury_address <> '0x0000000000000000000000000000000000000000') NOT VALID;
`;

// A lane asks many times a second which NFTs have an earlier mint or are asked out: few have, among all that it sends.
const indexes = {
  mint_transaction_nfts_found: 'mint_transaction_nfts (transaction_id) WHERE found_block IS NOT NULL',
  mint_transaction_nfts_asked_out: `mint_transaction_nfts (transaction_id) WHERE state = 'open' AND asked_out`,
  nfts_minted_in: `nfts (mint_chain_id, minted_block) WHERE mint_state = 'minted'`,
  nfts_failed: `nfts (mint_chain_id, updated_at, id) WHERE mint_state = 'failed'`,
};

// Each part locks few tables, and for a moment. Cut off half-way, the migration is run again.
export async function up(knex: Knex): Promise<void> {
  for (const part of [notes, known, unproven, links, contracts, treasuries])
    await knex.transaction((tx) => runStatements(tx, part));
  await buildIndexes(knex, indexes);
}

export const config = { transaction: false };
