import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * The ledger of owners may read a transfer before a lane has stored the mint. The news of the transfer then waits for the news of
 * the mint, which this trigger follows: triggers of a table fire in the order of their names. 0.2.0 never lets news wait.
 */
const column = `
  ALTER TABLE nft_transfers ADD COLUMN IF NOT EXISTS news_waits boolean NOT NULL DEFAULT false;
`;

// The first condition costs one look into an index that is nearly always empty. `enable_hashjoin`, `enable_mergejoin`: PostgreSQL
// keeps the plan of the first calls, and must look the transfers up however small their table was then.
const trigger = (schema: string) => `
  CREATE OR REPLACE FUNCTION write_waiting_transfer_news() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    BEGIN
      IF EXISTS (SELECT FROM nft_transfers WHERE news_waits) THEN
        WITH due AS (
          UPDATE nft_transfers t SET news_waits = false FROM new_rows n JOIN rwas r ON r.id = n.rwa_id
          WHERE n.mint_state NOT IN ('queued', 'submitted') AND t.news_waits
            AND t.chain_id = r.chain_id AND t.contract = r.contract_address AND t.token_id = n.token_id
          RETURNING n.company_id, n.id, n.rwa_id, n.mint_state, t.to_address, t.transaction_hash, t.block_number, t.log_index)
        INSERT INTO news (company_id, type, subject, data)
        SELECT company_id, 'nft.transferred', id, jsonb_build_object('nftId', id, 'rwaId', rwa_id, 'state', mint_state,
          'owner', nullif(to_address, '0x0000000000000000000000000000000000000000'), 'transactionHash', transaction_hash)
        FROM due ORDER BY block_number, log_index;
      END IF;
      RETURN NULL;
    END $$;
  REVOKE EXECUTE ON FUNCTION write_waiting_transfer_news() FROM PUBLIC;
  CREATE OR REPLACE TRIGGER nfts_news_of_waiting_transfers AFTER UPDATE ON nfts
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_waiting_transfer_news();
`;

// The second one finds what an endpoint got before of the same subject.
const indexes = {
  nft_transfers_waiting: 'nft_transfers (chain_id, contract, token_id) WHERE news_waits',
  news_deliveries_of_subject: 'news_deliveries (endpoint_id, subject, position)',
};

export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw('SELECT quote_ident(current_schema()) AS schema');
  await knex.transaction((tx) => runStatements(tx, column));
  await buildIndexes(knex, indexes);
  await knex.transaction((tx) => runStatements(tx, trigger(rows[0].schema)));
}

export const config = { transaction: false };
