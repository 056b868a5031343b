import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Which RWAs let the holders of secrets claim by themselves.
const pages = `
  ALTER TABLE rwas ADD COLUMN IF NOT EXISTS claim_page boolean NOT NULL DEFAULT false;
`;

// Where a network shows its transactions.
const explorers = `
  ALTER TABLE networks ADD COLUMN IF NOT EXISTS explorer_url text;
`;

// What customers read as the name of a company: on the claim page, on sheets of codes and in the metadata of tokens.
const names = `
  ALTER TABLE companies ADD COLUMN IF NOT EXISTS display_name text CHECK (length(display_name) BETWEEN 1 AND 255);
`;

// Wrong claim secrets, counted for whoever sent them. The nil id has the count of a caller over all NFTs. NFTs are not
// referenced: unknown ids are counted like others. 0.1.0 counts in `secret_attempts`, which stays until a release later.
const secrets = `
  CREATE TABLE IF NOT EXISTS wrong_secrets (
    caller bytea NOT NULL,
    nft_id uuid NOT NULL,
    wrong integer NOT NULL CHECK (wrong > 0),
    window_ends_at timestamptz NOT NULL,
    PRIMARY KEY (caller, nft_id)
  );
  CREATE INDEX IF NOT EXISTS wrong_secrets_expiry ON wrong_secrets (window_ends_at);
`;

// Each part locks one table at most, and for a moment. Cut off half-way, the migration is run again.
export async function up(knex: Knex): Promise<void> {
  for (const part of [pages, explorers, names, secrets])
    await knex.transaction((tx) => runStatements(tx, part));
}

export const config = { transaction: false };
