import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

// What one statement changes, it changes at one moment. A row that has changed since the statement began was waited for, and
// its time must not go back.
const touch = `
  CREATE OR REPLACE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.updated_at := CASE WHEN statement_timestamp() > OLD.updated_at THEN statement_timestamp()
      ELSE clock_timestamp() END;
    RETURN NEW;
  END $$;
`;

/*
 * Totals and offsets of lists are read from indexes that have the order of the list and what filters it. Which contracts RWAs name is
 * read by hopping from one contract to the next; of those in use, the index shows whether NFTs can be claimed and the oldest RWA.
 */
const indexes = {
  events_listed: 'events (company_id, created_at DESC, id DESC) INCLUDE (start_date)',
  rwas_in_order: 'rwas (company_id, created_at, id) INCLUDE (type, is_buyable, is_claimable, archived_at)',
  rwas_contracts: 'rwas (chain_id, contract_address)',
  rwas_contracts_in_use:
    'rwas (chain_id, contract_address, is_claimable, created_at, id) WHERE archived_at IS NULL',
  nfts_listed: 'nfts (company_id, rwa_number, serial) INCLUDE (mint_state, updated_at)',
  nfts_by_state: 'nfts (company_id, mint_state, rwa_number, serial) INCLUDE (updated_at)',
  nfts_by_change: 'nfts (company_id, updated_at) INCLUDE (rwa_number, serial, mint_state)',
  api_keys_in_order: 'api_keys (created_at, id)',
};

// Those that replace them begin with the same columns, so 0.1.0 reads by them as well. No query reads by `nfts_of_rwa`: the foreign
// key of NFTs finds those of an RWA by the unique index of RWA and serial.
const replaced = [
  ...['events_newest', 'rwas_created', 'rwas_type', 'rwas_chain', 'nfts_of_rwa', 'nfts_in_order'],
  ...['nfts_in_state', 'nfts_not_minted', 'nfts_changed'],
];

// Cut off half-way, it is run again.
export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, touch);
  await buildIndexes(knex, indexes);
  for (const index of replaced) await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
}

export const config = { transaction: false };
