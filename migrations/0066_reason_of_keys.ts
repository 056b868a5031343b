import type { Knex } from 'knex';

/*
 * A key that gives no signature has a reason of its own, which keeps nothing that is sent from moving: the function of migrations 0053
 * and 0058 with it, which says the same as the expression that lists have (`assets/reason-sql.ts`).
 */
const reason = `
  CREATE OR REPLACE FUNCTION nft_mint_reason(nft uuid, state text, network bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(
      (SELECT m.reason FROM mint_notes m WHERE m.nft_id = nft),
      CASE state
        WHEN 'queued' THEN (
          SELECT CASE WHEN count(*) = 0 THEN 'no_signer' WHEN count(*) = count(r.reason) THEN min(r.reason) END
          FROM (
            SELECT nullif(CASE WHEN l.stopped_by_operator THEN 'operator'
              WHEN coalesce(l.expires_at > clock_timestamp(), false) OR l.staffed_at > clock_timestamp() - interval '60 seconds'
              THEN l.pause_reason ELSE 'no_worker' END, 'finality_unknown') AS reason
            FROM mint_lanes l WHERE l.chain_id = network) r)
        WHEN 'submitted' THEN (
          SELECT r.reason FROM (
            SELECT nullif(CASE WHEN l.stopped_by_operator THEN 'operator'
              WHEN coalesce(l.expires_at > clock_timestamp(), false) OR l.staffed_at > clock_timestamp() - interval '60 seconds'
              THEN l.pause_reason ELSE 'no_worker' END, 'finality_unknown') AS reason
            FROM mint_transaction_nfts o
              JOIN mint_transactions t ON t.id = o.transaction_id
              JOIN mint_lanes l ON l.chain_id = t.chain_id AND l.signer = t.signer
            WHERE o.nft_id = nft AND o.state = 'open') r
          WHERE r.reason NOT IN (
            'operator', 'contract_refuses', 'contract_shared', 'contract_unanswered', 'history_searched', 'recovery_needed',
            'signer_unavailable'))
      END)
  $$;
`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(reason);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
