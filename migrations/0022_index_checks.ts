import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Why transfers may be believed, by the index of their logs, where that is not plain from the transaction. And the blocks with
// transfers whose contract is still to be asked about its balances.
const transfers = `
  ALTER TABLE wallet_history ADD COLUMN IF NOT EXISTS verdicts json;
  CREATE TABLE IF NOT EXISTS transfer_checks (
    chain_id bigint NOT NULL,
    block_number bigint NOT NULL,
    block_hash bytea NOT NULL,
    transfers json NOT NULL,
    tries smallint NOT NULL DEFAULT 0,
    due timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (chain_id, block_number)
  );
`;

// Contracts and tokens rest while nodes give no answer about them but do about others, so that these are read meanwhile.
const contracts = `
  ALTER TABLE token_contracts
    ADD COLUMN IF NOT EXISTS read_tries smallint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS read_due timestamptz NOT NULL DEFAULT '-infinity';
`;
const tokens = `
  ALTER TABLE nft_tokens
    ADD COLUMN IF NOT EXISTS uri_tries smallint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS uri_due timestamptz;
`;

// A refresh of all tokens of a contract goes on from the token that it has come to. `done_of` is the refresh to which this
// belongs: 0.1.0 begins and ends refreshes without a look at it.
const refreshes = `
  ALTER TABLE nft_refreshes
    ADD COLUMN IF NOT EXISTS done_to numeric(78),
    ADD COLUMN IF NOT EXISTS done_of timestamptz;
`;

// 0.1.0 kept metadata over 64 kB whole. They are fetched again; until then they are in no response.
const large = `
  UPDATE nft_tokens SET metadata_due = now(), metadata_tries = 0
  WHERE octet_length(metadata) > 65536 AND token_uri IS NOT NULL
`;

// 0.1.0 finds what is to be read by the first column of the indexes that replace its own.
const indexes = {
  token_contracts_due: 'token_contracts (chain_id, read_due) WHERE read_at IS NULL',
  nft_tokens_unread: 'nft_tokens (chain_id, contract, token_id) WHERE uri_stale',
  nft_tokens_rested: 'nft_tokens (chain_id, uri_due) WHERE uri_due IS NOT NULL',
  nft_refreshes_resting: 'nft_refreshes (chain_id, rests_until) WHERE due IS NULL',
};
const replaced = ['token_contracts_unread', 'nft_tokens_stale'];

// Cut off half-way, it is run again.
export async function up(knex: Knex): Promise<void> {
  for (const part of [transfers, contracts, tokens, refreshes])
    await knex.transaction((tx) => runStatements(tx, part));
  await knex.raw(large);
  await buildIndexes(knex, indexes);
  for (const index of replaced) await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
}

export const config = { transaction: false };
