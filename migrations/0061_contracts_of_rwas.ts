import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';

/*
 * Which contracts RWAs name was asked by reading all RWAs. With these indexes it is asked by hopping from one contract to the
 * next; the second one shows of each, too, whether NFTs can be claimed, and the oldest RWA, of those that are not archived.
 * What is minted in some blocks of a network is read by network and block, not through what is minted on all networks.
 * Operators list keys in the order in which they were made.
 */
const indexes = {
  rwas_contracts: 'rwas (chain_id, contract_address)',
  rwas_contracts_in_use:
    'rwas (chain_id, contract_address, is_claimable, created_at, id) WHERE archived_at IS NULL',
  nfts_minted_in: `nfts (mint_chain_id, minted_block) WHERE mint_state = 'minted'`,
  api_keys_in_order: 'api_keys (created_at, id)',
};

/*
 * Whoever asks for a network's RWAs finds them by the first column of `rwas_contracts`. The release before asks for minted NFTs
 * without the network: PostgreSQL reads the new index of them instead, from its beginning, and no more of the table than before.
 */
const replaced = ['rwas_chain', 'nfts_minted_block'];

export async function up(knex: Knex): Promise<void> {
  await buildIndexes(knex, indexes);
  for (const index of replaced) await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
