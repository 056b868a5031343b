import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

/*
 * Counters stand on the RWA row so that its detail never counts rows; they change in the same transaction
 * as the NFTs that they count. An NFT repeats the company and the number of its RWA: the foreign key keeps
 * them true, and one index order then serves the listings of an RWA and of a company alike.
 * `updated_at` follows what a caller can see: an RWA's counters and a re-encryption leave it as it is.
 */
const rwas = `
  CREATE TABLE rwas (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    company_id text NOT NULL REFERENCES companies,
    name text NOT NULL,
    description text,
    type text NOT NULL,
    image_url text,
    chain_id bigint NOT NULL REFERENCES networks,
    contract_address text NOT NULL CHECK (contract_address ~ '^0x[0-9a-fA-F]{40}$'),
    is_buyable boolean NOT NULL DEFAULT false,
    is_claimable boolean NOT NULL DEFAULT false,
    price numeric CHECK (price >= 0),
    currency text,
    data jsonb CHECK (jsonb_typeof(data) = 'object'),
    claim_base_url text,
    last_serial bigint NOT NULL DEFAULT 0,
    total_nfts bigint NOT NULL DEFAULT 0,
    claimed_nfts bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (company_id, id, number),
    CHECK (claimed_nfts BETWEEN 0 AND total_nfts)
  );
  CREATE INDEX rwas_created ON rwas (company_id, created_at, id);
  CREATE INDEX rwas_type ON rwas (company_id, type, created_at, id);
  CREATE INDEX rwas_chain ON rwas (chain_id);
`;

// statement_timestamp: all NFTs of a batch share one time, and it is later than the wait for the RWA's lock.
const nfts = `
  CREATE TABLE nfts (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    company_id text NOT NULL,
    rwa_id uuid NOT NULL,
    rwa_number bigint NOT NULL,
    serial bigint NOT NULL CHECK (serial > 0),
    token_id numeric(78) NOT NULL CHECK (token_id = rwa_number::numeric * 18446744073709551616 + serial),
    secret_cipher bytea NOT NULL,
    secret_key_id text NOT NULL,
    mint_state text NOT NULL DEFAULT 'unclaimed'
      CHECK (mint_state IN ('unclaimed', 'queued', 'submitted', 'minted', 'failed')),
    mint_error text,
    recipient text,
    minted_at timestamptz,
    minted_tx text,
    minted_block numeric(78),
    data jsonb CHECK (jsonb_typeof(data) = 'object'),
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    UNIQUE (rwa_id, serial),
    FOREIGN KEY (company_id, rwa_id, rwa_number) REFERENCES rwas (company_id, id, number),
    CHECK ((mint_state = 'minted') = (minted_at IS NOT NULL)),
    CHECK ((minted_at IS NULL) = (minted_tx IS NULL) AND (minted_at IS NULL) = (minted_block IS NULL))
  );
  CREATE INDEX nfts_of_rwa ON nfts (company_id, rwa_id, rwa_number);
  CREATE INDEX nfts_in_order ON nfts (company_id, rwa_number, serial);
  CREATE INDEX nfts_in_state ON nfts (company_id, mint_state, rwa_number, serial);
  CREATE INDEX nfts_not_minted ON nfts (company_id, rwa_number, serial) WHERE mint_state <> 'minted';
  CREATE INDEX nfts_changed ON nfts (company_id, updated_at);
  CREATE INDEX nfts_secret_key ON nfts (secret_key_id, id);
`;

const touch = `
  CREATE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
  END $$;
  CREATE TRIGGER rwas_touch BEFORE UPDATE OF name, description, type, image_url, chain_id, contract_address,
    is_buyable, is_claimable, price, currency, data, claim_base_url ON rwas
    FOR EACH ROW EXECUTE FUNCTION touch_updated_at();
  CREATE TRIGGER nfts_touch BEFORE UPDATE OF mint_state, mint_error, recipient, minted_at, minted_tx,
    minted_block, data ON nfts
    FOR EACH ROW EXECUTE FUNCTION touch_updated_at();
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, rwas);
  await runStatements(knex, nfts);
  await runStatements(knex, touch);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
