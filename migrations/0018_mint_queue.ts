import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Lanes take companies in turn: they read the queue by contract and company, so a queued NFT repeats the contract of its RWA.
// The trigger fills it in for 0.1.0, which does not write it.
const contracts = `
  ALTER TABLE nfts ADD COLUMN IF NOT EXISTS mint_contract text;
  CREATE OR REPLACE FUNCTION note_mint_contract() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    SELECT contract_address INTO NEW.mint_contract FROM rwas WHERE id = NEW.rwa_id;
    RETURN NEW;
  END $$;
  CREATE OR REPLACE TRIGGER nfts_mint_contract BEFORE INSERT OR UPDATE OF mint_state ON nfts
    FOR EACH ROW WHEN (NEW.mint_state = 'queued' AND NEW.mint_contract IS NULL)
    EXECUTE FUNCTION note_mint_contract();
`;

// The trigger sees to NFTs that are queued meanwhile.
const present = `
  UPDATE nfts n SET mint_contract = r.contract_address FROM rwas r
  WHERE n.mint_state = 'queued' AND n.mint_contract IS NULL AND r.id = n.rwa_id
`;

const indexes = {
  nfts_turns: `nfts (mint_chain_id, mint_contract, company_id, queued_at, id) WHERE mint_state = 'queued'`,
};

// Why one NFT waits. Lists have the same as an expression (`assets/reason-sql.ts`), which costs less for many NFTs.
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

// Cut off half-way, it is run again.
export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, contracts));
  await knex.raw(present);
  await buildIndexes(knex, indexes);
  await runStatements(knex, reason);
}

export const config = { transaction: false };
