import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

// When metadata of tokens of an RWA last changed, until a transaction is stored that reports it to marketplaces (ERC-4906).
const changes = 'ALTER TABLE rwas ADD COLUMN IF NOT EXISTS metadata_changed_at timestamptz;';

// The RWA whose change a transaction reports.
const reports = 'ALTER TABLE mint_transactions ADD COLUMN IF NOT EXISTS rwa_id uuid;';

/*
 * Whoever changes what token metadata show: the api, operators and processes of the last release. Nobody has read metadata before
 * the first mint. A mint that is sent may have been minted before, and taken back by a reorganisation.
 */
const ofRwas = `
  CREATE OR REPLACE FUNCTION note_metadata_of_rwa() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.claimed_nfts > 0 OR EXISTS (SELECT FROM nfts WHERE company_id = NEW.company_id
      AND rwa_number = NEW.number AND mint_state = 'submitted') THEN
      NEW.metadata_changed_at := clock_timestamp();
    END IF;
    RETURN NEW;
  END $$;
  CREATE OR REPLACE TRIGGER rwas_metadata BEFORE UPDATE OF name, description, type, image_url ON rwas
    FOR EACH ROW WHEN ((OLD.name, OLD.description, OLD.type, OLD.image_url)
      IS DISTINCT FROM (NEW.name, NEW.description, NEW.type, NEW.image_url))
    EXECUTE FUNCTION note_metadata_of_rwa();
`;

const ofNfts = `
  CREATE OR REPLACE FUNCTION note_metadata_of_nft() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE rwas SET metadata_changed_at = clock_timestamp() WHERE id = NEW.rwa_id;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER nfts_metadata AFTER UPDATE OF attributes, image_url ON nfts
    FOR EACH ROW WHEN (NEW.mint_state IN ('submitted', 'minted')
      AND (OLD.attributes, OLD.image_url) IS DISTINCT FROM (NEW.attributes, NEW.image_url))
    EXECUTE FUNCTION note_metadata_of_nft();
`;

const indexes = {
  rwas_metadata_changed: 'rwas (chain_id, metadata_changed_at) WHERE metadata_changed_at IS NOT NULL',
};

// Each part locks one table at most, and for a moment. Cut off half-way, the migration is run again.
export async function up(knex: Knex): Promise<void> {
  for (const part of [changes, reports]) await knex.transaction((tx) => runStatements(tx, part));
  await buildIndexes(knex, indexes);
  for (const part of [ofRwas, ofNfts]) await knex.transaction((tx) => runStatements(tx, part));
}

export const config = { transaction: false };
