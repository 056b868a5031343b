import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Why nothing is sent to a contract: of its NFTs only, and no matter of the lanes.
const contracts = `
  ALTER TABLE mint_contracts
    ADD COLUMN IF NOT EXISTS pause_reason text,
    ADD COLUMN IF NOT EXISTS pause_detail text,
    ADD COLUMN IF NOT EXISTS paused_at timestamptz;
`;

/*
 * Why a mint that was accepted does not move, once for all who ask. A lane's reason is read and not written to the row of each
 * NFT that waits for it, which may be a hundred thousand.
 */
const reasons = `
  -- For less than a minute a lane without a worker is one whose worker is being replaced.
  CREATE OR REPLACE FUNCTION mint_lane_reason(l mint_lanes) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN l.stopped_by_operator THEN 'operator'
      WHEN coalesce(l.expires_at > clock_timestamp(), false) OR l.staffed_at > clock_timestamp() - interval '60 seconds'
      THEN l.pause_reason ELSE 'no_worker' END
  $$;
  -- Whether a lane that stands for this reason only sends nothing new: what is sent moves on all the same.
  CREATE OR REPLACE FUNCTION mint_reason_of_sending(reason text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT reason IN ('operator', 'contract_refuses', 'contract_shared', 'contract_unanswered', 'finality_unknown',
      'history_searched', 'recovery_needed', 'signer_unavailable')
  $$;
  -- A lane that cannot say what is final sends and confirms all the same.
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
          SELECT mint_lane_reason(l) AS reason FROM mint_transaction_nfts o
            JOIN mint_transactions t ON t.id = o.transaction_id
            JOIN mint_lanes l ON l.chain_id = t.chain_id AND l.signer = t.signer
          WHERE o.nft_id = nft AND o.state = 'open') r
        WHERE NOT mint_reason_of_sending(r.reason) LIMIT 1)
    END
  $$;
  CREATE OR REPLACE FUNCTION nft_mint_reason(nft uuid, state text, network bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN state IN ('queued', 'submitted') THEN coalesce(
      (SELECT m.reason FROM mint_notes m WHERE m.nft_id = nft), nft_standing_reason(nft, state, network)) END
  $$;
`;

export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, contracts));
  await runStatements(knex, reasons);
}

export const config = { transaction: false };
