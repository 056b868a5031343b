import type { Knex } from 'knex';

/**
 * Why an NFT whose mint was accepted does not move, for those that wait for a reason of their own. A table apart: a
 * note comes and goes without a new version of the NFT's row.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE mint_notes (
      nft_id uuid PRIMARY KEY REFERENCES nfts ON DELETE CASCADE,
      reason text NOT NULL CHECK (reason <> ''),
      detail text NOT NULL,
      since timestamptz NOT NULL DEFAULT clock_timestamp()
    )
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
