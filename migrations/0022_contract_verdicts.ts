import type { Knex } from 'knex';

/**
 * What is known of the contracts that NFTs are minted on, so that accepting a mint asks no node. A contract without a
 * row was never examined, and mints on it are accepted.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE contract_verdicts (
      chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
      contract text NOT NULL CHECK (contract ~ '^0x[0-9a-fA-F]{40}$'),
      verdict text NOT NULL CHECK (verdict IN ('fit', 'forbidden', 'unfit')),
      detail text NOT NULL,
      checked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (chain_id, contract)
    )
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
