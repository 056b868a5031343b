import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';
import { runStatements } from '../src/db/statements.ts';

/*
 * What is needed to hold the rows against the chain: who this deployment is, which contracts it mints on and how far
 * they are compared, what disagrees, and where minting waits until an operator has recovered a database that is older
 * than the chain.
 */
const deployment = `
  CREATE TABLE deployment (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    singleton boolean NOT NULL DEFAULT true UNIQUE CHECK (singleton),
    created_at timestamptz NOT NULL DEFAULT now()
  );
  INSERT INTO deployment DEFAULT VALUES;
`;

// shared: tokens of others are among the ids that this deployment would give; nothing is sent to it.
// compared_to: all final blocks up to here agree, or their disagreements are stored. recovered_to: tokens without a
// row up to here are known to be lost.
const contracts = `
  CREATE TABLE mint_contracts (
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
    SELECT DISTINCT t.chain_id, t.contract, d.id FROM mint_transactions t CROSS JOIN deployment d;
`;

const disagreements = `
  CREATE TABLE mint_disagreements (
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
`;

// A row is the flag: lanes of the network send nothing until it is gone.
const recoveries = `
  CREATE TABLE mint_recoveries (
    chain_id bigint PRIMARY KEY REFERENCES networks ON DELETE CASCADE,
    reason text NOT NULL CHECK (reason IN ('recovery_needed', 'contract_shared')),
    detail text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  ALTER TABLE mint_lanes ADD COLUMN nonce_floor bigint CHECK (nonce_floor >= 0);
`;

const indexes = { nfts_minted_block: `nfts (minted_block) WHERE mint_state = 'minted'` };

export async function up(knex: Knex): Promise<void> {
  // Cut off while the index was built, it is run again.
  if (!(await knex.schema.hasTable('deployment'))) {
    await knex.transaction(async (tx) => {
      for (const part of [deployment, contracts, disagreements, recoveries]) await runStatements(tx, part);
    });
  }
  await buildIndexes(knex, indexes);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
