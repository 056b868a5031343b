import type { Knex } from 'knex';

// Counters stand on the RWA row so that its detail never counts rows; they change in the same
// transaction as the NFTs that they count.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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
      data jsonb NOT NULL DEFAULT '{}',
      claim_base_url text,
      last_serial bigint NOT NULL DEFAULT 0,
      total_nfts bigint NOT NULL DEFAULT 0,
      claimed_nfts bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (company_id, id),
      CHECK (claimed_nfts BETWEEN 0 AND total_nfts)
    );
    CREATE INDEX rwas_created ON rwas (company_id, created_at, id);
    CREATE INDEX rwas_type ON rwas (company_id, type, created_at, id);
    CREATE INDEX rwas_chain ON rwas (chain_id);

    CREATE TABLE nfts (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      company_id text NOT NULL,
      rwa_id uuid NOT NULL,
      rwa_number bigint NOT NULL,
      serial bigint NOT NULL CHECK (serial > 0),
      token_id numeric(78) NOT NULL,
      secret_cipher bytea NOT NULL,
      secret_key_id text NOT NULL,
      mint_state text NOT NULL DEFAULT 'unclaimed'
        CHECK (mint_state IN ('unclaimed', 'queued', 'submitted', 'minted', 'failed')),
      mint_error text,
      recipient text,
      minted_at timestamptz,
      minted_tx text,
      minted_block numeric(78),
      data jsonb NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (rwa_id, serial),
      FOREIGN KEY (company_id, rwa_id) REFERENCES rwas (company_id, id),
      CHECK ((mint_state = 'minted') = (minted_at IS NOT NULL)),
      CHECK ((minted_at IS NULL) = (minted_tx IS NULL) AND (minted_at IS NULL) = (minted_block IS NULL))
    );
    CREATE INDEX nfts_of_company ON nfts (company_id, rwa_number, serial);
    CREATE INDEX nfts_of_rwa ON nfts (company_id, rwa_id, serial);
    CREATE INDEX nfts_claimed ON nfts (company_id, rwa_number, serial) WHERE mint_state = 'minted';
    CREATE INDEX nfts_secret_key ON nfts (secret_key_id);
    CREATE INDEX nfts_changed ON nfts (company_id, updated_at);
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
