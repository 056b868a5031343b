import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    CREATE TABLE companies (
      id text PRIMARY KEY DEFAULT gen_random_uuid()::text CHECK (length(id) BETWEEN 1 AND 255),
      name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 255),
      treasury_address text CHECK (treasury_address ~ '^0x[0-9a-fA-F]{40}$'),
      claim_base_url text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE api_keys (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      company_id text REFERENCES companies,
      label text NOT NULL,
      hint text NOT NULL,
      hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
      rate_per_second integer CHECK (rate_per_second > 0),
      rate_burst integer CHECK (rate_burst >= rate_per_second),
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      revoked_at timestamptz
    );
    CREATE INDEX api_keys_company ON api_keys (company_id, created_at);

    CREATE FUNCTION notify_api_key() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('tallystick_keys', encode(coalesce(NEW.hash, OLD.hash), 'hex'));
      RETURN NULL;
    END $$;
    CREATE TRIGGER api_keys_notify AFTER INSERT OR UPDATE OR DELETE ON api_keys
      FOR EACH ROW EXECUTE FUNCTION notify_api_key();
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
