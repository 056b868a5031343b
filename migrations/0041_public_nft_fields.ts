import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Public fields of an NFT. `updated_at` follows them, as it follows everything that callers see.
const nfts = `
  ALTER TABLE nfts ADD COLUMN IF NOT EXISTS attributes jsonb CHECK (jsonb_typeof(attributes) = 'array'),
    ADD COLUMN IF NOT EXISTS image_url text;
  CREATE OR REPLACE TRIGGER nfts_touch BEFORE UPDATE OF mint_state, mint_error, recipient, minted_at, minted_tx,
    minted_block, data, attributes, image_url, owner, owner_block, owner_at, owner_tx ON nfts
    FOR EACH ROW EXECUTE FUNCTION touch_updated_at();
  -- The api may change data and public fields in any state; of the columns of a mint it still changes only what queues one.
  CREATE OR REPLACE TRIGGER nfts_state_of_old
    BEFORE UPDATE OF mint_state, recipient, mint_error, mint_chain_id, mint_contract, queued_at ON nfts
    FOR EACH ROW WHEN (NOT (OLD.mint_state IN ('unclaimed', 'failed') AND NEW.mint_state = 'queued'))
    EXECUTE FUNCTION refuse_mint_state();
`;

// Companies change RWAs over HTTP. The tokens of an RWA stay on their network and contract, whoever writes.
const rwas = `
  CREATE OR REPLACE FUNCTION keep_contract() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'RWA % has NFTs: its network and contract cannot change', OLD.id;
  END $$;
  CREATE OR REPLACE TRIGGER rwas_keep_contract BEFORE UPDATE OF chain_id, contract_address ON rwas
    FOR EACH ROW WHEN (OLD.last_serial > 0
      AND (OLD.chain_id, OLD.contract_address) IS DISTINCT FROM (NEW.chain_id, NEW.contract_address))
    EXECUTE FUNCTION keep_contract();
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, nfts);
  await runStatements(knex, rwas);
}
