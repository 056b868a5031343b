import type { Knex } from 'knex';

/*
 * The index by which the foreign key of NFTs finds those of an RWA goes: the unique one of RWA and serial begins with the RWA as
 * well, no query of any release takes this one, and each NFT that was created or changed its state had to be put into it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX CONCURRENTLY IF EXISTS nfts_of_rwa');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
