import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * Searching a history: each row has a kind (category, spam, directions). Each token and each counterparty of it has a row in
 * `history_facets`, so that a page of any search is a few ranges of an index. Rows that 0.1.0 wrote or still writes have no
 * kind until the indexer has sorted them.
 */
const facets = `
  ALTER TABLE wallet_history ADD COLUMN IF NOT EXISTS kind smallint;

  -- The kind is that of the facet: the directions are those of its own transfers.
  CREATE TABLE IF NOT EXISTS history_facets (
    chain_id bigint NOT NULL,
    wallet bytea NOT NULL,
    facet bytea NOT NULL,
    kind smallint NOT NULL,
    block_number bigint NOT NULL,
    tx_index integer NOT NULL,
    PRIMARY KEY (chain_id, wallet, facet, kind, block_number, tx_index)
  );
`;

const indexes = {
  wallet_history_kind:
    'wallet_history (chain_id, wallet, kind, block_number, tx_index) WHERE kind IS NOT NULL',
  wallet_history_unsorted: 'wallet_history (chain_id, wallet) WHERE kind IS NULL',
  nft_holdings_contract: `nft_holdings (chain_id, wallet, contract, acquired_block, acquired_log, token_id)
    WHERE amount > 0`,
};

// Cut off half-way, it is run again.
export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, facets));
  await buildIndexes(knex, indexes);
}

export const config = { transaction: false };
