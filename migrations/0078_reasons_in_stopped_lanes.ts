import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * A lane that an operator has stopped still watches what is in flight. An NFT in a transaction waits for what keeps the lane from that:
 * no worker, or nodes. The stop hid both.
 */
const reasons = `
  CREATE OR REPLACE FUNCTION nft_standing_reason(nft uuid, state text, network bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE state
      WHEN 'queued' THEN coalesce(
        (SELECT CASE WHEN count(*) = 0 THEN 'no_signer' WHEN count(*) = count(r.reason) THEN min(r.reason) END
         FROM (SELECT nullif(mint_lane_reason(l), 'finality_unknown') AS reason
           FROM mint_lanes l WHERE l.chain_id = network) r),
        (SELECT c.pause_reason FROM nfts n JOIN mint_contracts c ON c.chain_id = n.mint_chain_id AND c.contract = n.mint_contract
         WHERE n.id = nft))
      WHEN 'submitted' THEN (
        SELECT r.reason FROM (
          SELECT CASE WHEN coalesce(l.expires_at > clock_timestamp(), false) OR l.staffed_at > clock_timestamp() - interval '60 seconds'
            THEN l.pause_reason ELSE 'no_worker' END AS reason
          FROM mint_transaction_nfts o
            JOIN mint_transactions t ON t.id = o.transaction_id
            JOIN mint_lanes l ON l.chain_id = t.chain_id AND l.signer = t.signer
          WHERE o.nft_id = nft AND o.state = 'open') r
        WHERE NOT mint_reason_of_sending(r.reason) LIMIT 1)
    END
  $$;
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, reasons);
}
