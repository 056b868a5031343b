import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';

/*
 * What a wallet had of a token before the index began: of an ERC-1155 only its contract tells, so null is not known yet.
 * `start_tries` counts how often a contract did not say. The other indexes serve lists as of a block.
 */
const columns = `
  ALTER TABLE nft_holdings ADD COLUMN start_amount numeric, ADD COLUMN start_tries smallint NOT NULL DEFAULT 0;
`;

const indexes = {
  nft_holdings_unstarted: `nft_holdings (chain_id, start_tries, wallet) WHERE standard = 1155 AND start_amount IS NULL`,
  nft_holdings_started: 'nft_holdings (chain_id, wallet, contract, token_id) WHERE start_amount > 0',
  nft_changes_gains:
    'nft_changes (chain_id, wallet, block_number, log_index, contract, token_id) WHERE gained',
};

export async function up(knex: Knex): Promise<void> {
  // Cut off while an index was built, it is run again.
  if (!(await knex.schema.hasColumn('nft_holdings', 'start_amount')))
    await knex.transaction((tx) => tx.raw(columns));
  await buildIndexes(knex, indexes);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
