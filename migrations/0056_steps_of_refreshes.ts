import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';

/*
 * A refresh of all tokens of a contract goes on from the token that it has come to. Those that rest are found by when that is
 * over: a contract may tell of any number of tokens, at a thousand gas for each.
 */
const indexes = {
  nft_refreshes_resting: 'nft_refreshes (chain_id, rests_until) WHERE due IS NULL',
};

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE nft_refreshes ADD COLUMN IF NOT EXISTS done_to numeric(78)');
  // The refresh that it belongs to: a release before this one begins and ends others without a look at it.
  await knex.raw('ALTER TABLE nft_refreshes ADD COLUMN IF NOT EXISTS done_of timestamptz');
  await buildIndexes(knex, indexes);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
