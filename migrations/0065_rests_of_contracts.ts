import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';
import { runStatements } from '../src/db/statements.ts';

/*
 * Contracts and tokens about which nodes do not answer, though they answer others, rest before they are asked about again, so that
 * they keep no others from being read. A release before this one asks about contracts at once, by the new index as well, and not
 * about tokens that rest.
 */
const columns = `
  ALTER TABLE token_contracts ADD COLUMN IF NOT EXISTS read_tries smallint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS read_due timestamptz NOT NULL DEFAULT '-infinity';
  ALTER TABLE nft_tokens ADD COLUMN IF NOT EXISTS uri_tries smallint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS uri_due timestamptz;
`;

const indexes = {
  token_contracts_due: 'token_contracts (chain_id, read_due) WHERE read_at IS NULL',
  nft_tokens_rested: 'nft_tokens (chain_id, uri_due) WHERE uri_due IS NOT NULL',
};

export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, columns));
  await buildIndexes(knex, indexes);
  await knex.raw('DROP INDEX CONCURRENTLY IF EXISTS token_contracts_unread');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
