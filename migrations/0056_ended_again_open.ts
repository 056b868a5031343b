import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * A chain that was rolled back may still mine the bytes of a transaction that had ended. What it had not minted is left out of it
 * then, waits until the nonce is final, and becomes again what it was: ended_as and ended_reason.
 */
const columns = `
  ALTER TABLE mint_transaction_nfts
    ADD COLUMN IF NOT EXISTS ended_as text CHECK (ended_as IN ('queued', 'failed', 'unclaimed')),
    ADD COLUMN IF NOT EXISTS ended_reason text;
`;

/*
 * What a worker may not do by itself, since it never changes who gets which token: make unclaimed again what was, and take the
 * token that an older transaction has minted.
 */
const functions = (schema: string) => `
  CREATE OR REPLACE FUNCTION unclaim_ended_nfts(of_transaction uuid, ids uuid[]) RETURNS SETOF uuid LANGUAGE sql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
      UPDATE nfts n SET mint_state = 'unclaimed', mint_error = NULL, recipient = NULL, mint_chain_id = NULL, queued_at = NULL
      FROM mint_transaction_nfts l
      WHERE l.transaction_id = of_transaction AND l.nft_id = n.id AND l.ended_as = 'unclaimed' AND n.id = ANY (ids)
        AND n.mint_state || '' = 'submitted'
      RETURNING n.id
    $$;
  -- The ledger has read the transfers of an older token already, when no NFT had it.
  CREATE OR REPLACE FUNCTION take_back_tokens(ids uuid[]) RETURNS void LANGUAGE sql
    SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
      UPDATE nfts n SET token_id = l.token_id, owner = o.to_address, owner_block = o.block_number, owner_at = o.block_time,
        owner_tx = o.transaction_hash
      FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id LEFT JOIN LATERAL (
        SELECT * FROM nft_transfers r WHERE r.chain_id = t.chain_id AND r.contract = t.contract AND r.token_id = l.token_id
        ORDER BY r.block_number DESC, r.log_index DESC LIMIT 1) o ON true
      WHERE n.id = ANY (ids) AND l.nft_id = n.id AND l.state = 'open' AND l.token_id <> n.token_id
    $$;
  REVOKE EXECUTE ON FUNCTION unclaim_ended_nfts(uuid, uuid[]), take_back_tokens(uuid[]) FROM PUBLIC;
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, columns);
  const { rows } = await knex.raw('SELECT quote_ident(current_schema()) AS schema');
  await runStatements(knex, functions(rows[0].schema));
  await buildIndexes(knex, {
    mint_transaction_nfts_ended: 'mint_transaction_nfts (transaction_id) WHERE ended_as IS NOT NULL',
  });
}

export const config = { transaction: false };
