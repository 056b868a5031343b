import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * What the search for evidence of mints keeps: where the history of a contract begins, and which transactions have
 * ended while the outcome of some of their NFTs is still to be proven. The block's hash tells a chain that was begun
 * anew under the same id.
 */
const origins = `
  CREATE TABLE mint_contract_origins (
    chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
    contract text NOT NULL CHECK (contract ~ '^0x[0-9a-fA-F]{40}$'),
    first_block numeric(78) NOT NULL,
    block_hash text NOT NULL,
    PRIMARY KEY (chain_id, contract)
  );
`;

const unproven = `
  CREATE TABLE mint_unproven_transactions (
    transaction_id uuid PRIMARY KEY REFERENCES mint_transactions ON DELETE CASCADE,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [origins, unproven]) await runStatements(knex, part);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
