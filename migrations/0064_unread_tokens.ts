import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';

/*
 * Tokens whose URI is to be read are found by their contracts, some of each. A release before this one finds those of a
 * network by the same index.
 */
const indexes = {
  nft_tokens_unread: 'nft_tokens (chain_id, contract, token_id) WHERE uri_stale',
};

export async function up(knex: Knex): Promise<void> {
  await buildIndexes(knex, indexes);
  await knex.raw('DROP INDEX CONCURRENTLY IF EXISTS nft_tokens_stale');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
