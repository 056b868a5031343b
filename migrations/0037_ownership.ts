import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

// A ledger has read the transfers of a contract up to the block `number`. The hash tells whether the chain still has this block.
// `roll_backs` grows each time that a reorganisation takes transfers back. Of tokens whose ids no NFT can have, no transfers are stored.
const ledgers = `
  CREATE TABLE IF NOT EXISTS nft_ledgers (
    chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
    contract text NOT NULL CHECK (contract ~ '^0x[0-9a-fA-F]{40}$'),
    first_block numeric(78) NOT NULL,
    number numeric(78) NOT NULL,
    hash text NOT NULL,
    time timestamptz NOT NULL,
    roll_backs bigint NOT NULL DEFAULT 0,
    caught_up_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (chain_id, contract)
  );
  CREATE TABLE IF NOT EXISTS nft_transfers (
    chain_id bigint NOT NULL,
    contract text NOT NULL,
    token_id numeric(78) NOT NULL,
    block_number numeric(78) NOT NULL,
    log_index bigint NOT NULL,
    from_address text NOT NULL,
    to_address text NOT NULL,
    block_hash text NOT NULL,
    block_time timestamptz NOT NULL,
    transaction_hash text NOT NULL,
    PRIMARY KEY (chain_id, contract, token_id, block_number, log_index),
    FOREIGN KEY (chain_id, contract) REFERENCES nft_ledgers ON DELETE CASCADE
  );
  CREATE INDEX IF NOT EXISTS nft_transfers_in_block ON nft_transfers (chain_id, contract, block_number);
`;

// What the newest transfer of its token says, for the lists and their filter. Without an owner, but with a time, it was burned.
const owners = `
  ALTER TABLE nfts
    ADD COLUMN IF NOT EXISTS owner text,
    ADD COLUMN IF NOT EXISTS owner_block numeric(78),
    ADD COLUMN IF NOT EXISTS owner_at timestamptz,
    ADD COLUMN IF NOT EXISTS owner_tx text;
  CREATE OR REPLACE TRIGGER nfts_touch BEFORE UPDATE OF mint_state, mint_error, recipient, minted_at, minted_tx,
    minted_block, data, owner, owner_block, owner_at, owner_tx ON nfts
    FOR EACH ROW EXECUTE FUNCTION touch_updated_at();
`;

const indexes = {
  nfts_of_owner: `nfts (company_id, owner, rwa_number, serial) INCLUDE (mint_state, updated_at) WHERE owner IS NOT NULL`,
};

// Cut off half-way, it is run again.
export async function up(knex: Knex): Promise<void> {
  for (const part of [ledgers, owners]) await knex.transaction((tx) => runStatements(tx, part));
  await buildIndexes(knex, indexes);
}

export const config = { transaction: false };
