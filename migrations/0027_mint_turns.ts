import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';
import { runStatements } from '../src/db/statements.ts';

/*
 * Lanes take companies in turn: the queue is read by contract and company, so a queued NFT has the contract of its RWA
 * beside it. The trigger fills it in for releases that do not write it; one that does never calls it.
 */
const contracts = `
  ALTER TABLE nfts ADD COLUMN mint_contract text;
  CREATE FUNCTION note_mint_contract() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    SELECT contract_address INTO NEW.mint_contract FROM rwas WHERE id = NEW.rwa_id;
    RETURN NEW;
  END $$;
  CREATE TRIGGER nfts_mint_contract BEFORE INSERT OR UPDATE OF mint_state ON nfts
    FOR EACH ROW WHEN (NEW.mint_state = 'queued' AND NEW.mint_contract IS NULL)
    EXECUTE FUNCTION note_mint_contract();
`;

// The trigger sees to those that are queued meanwhile.
const present = `
  UPDATE nfts n SET mint_contract = r.contract_address FROM rwas r
  WHERE n.mint_state = 'queued' AND n.mint_contract IS NULL AND r.id = n.rwa_id
`;

const indexes = {
  nfts_turns: `nfts (mint_chain_id, mint_contract, company_id, queued_at, id) WHERE mint_state = 'queued'`,
};

export async function up(knex: Knex): Promise<void> {
  // Cut off while the index was built, it is run again.
  if (!(await knex.schema.hasColumn('nfts', 'mint_contract')))
    await knex.transaction((tx) => runStatements(tx, contracts));
  await knex.raw(present);
  await buildIndexes(knex, indexes);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
