import type { Knex } from 'knex';

/**
 * A transaction may be signed again with fewer NFTs, for nodes that refuse the larger one. The NFTs that the mined
 * form leaves out stay in the transaction until it is final; they were not tried, so it counts as no failure of theirs.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE mint_transaction_nfts ADD COLUMN left_out boolean NOT NULL DEFAULT false');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
