import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';

/*
 * Operators list the mints that failed, of all companies, the longest ago first. An index of these alone costs what is minted
 * nothing; without it every NFT that was ever issued was read.
 */
const indexes = {
  nfts_failed: `nfts (mint_chain_id, updated_at, id) WHERE mint_state = 'failed'`,
};

export async function up(knex: Knex): Promise<void> {
  await buildIndexes(knex, indexes);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
