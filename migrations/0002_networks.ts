import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    CREATE TABLE networks (
      chain_id bigint PRIMARY KEY CHECK (chain_id BETWEEN 1 AND 9007199254740991),
      name text NOT NULL,
      currency_name text NOT NULL,
      currency_symbol text NOT NULL,
      currency_decimals integer NOT NULL CHECK (currency_decimals BETWEEN 0 AND 77),
      rpc_urls text[] NOT NULL CHECK (cardinality(rpc_urls) > 0),
      data_provider text NOT NULL CHECK (data_provider IN ('moralis', 'indexer')),
      confirmations integer NOT NULL CHECK (confirmations >= 1),
      finality_depth integer NOT NULL CHECK (finality_depth >= confirmations),
      minter_contract text CHECK (minter_contract ~ '^0x[0-9a-fA-F]{40}$'),
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE FUNCTION notify_network() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('tallystick_networks', coalesce(NEW.chain_id, OLD.chain_id)::text);
      RETURN NULL;
    END $$;
    CREATE TRIGGER networks_notify AFTER INSERT OR UPDATE OR DELETE ON networks
      FOR EACH ROW EXECUTE FUNCTION notify_network();
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
