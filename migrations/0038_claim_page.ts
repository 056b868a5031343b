import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/**
 * Which RWAs let the holders of secrets claim by themselves, where a network shows its transactions, and wrong tries for
 * NFTs that nobody may claim so: without the count they would be told apart from those that one may.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE rwas ADD COLUMN claim_page boolean NOT NULL DEFAULT false;
    ALTER TABLE networks ADD COLUMN explorer_url text;

    CREATE TABLE unknown_claims (
      nft_id uuid PRIMARY KEY,
      tries integer NOT NULL CHECK (tries > 0),
      window_ends_at timestamptz NOT NULL
    );
    CREATE INDEX unknown_claims_expiry ON unknown_claims (window_ends_at);

    ALTER TABLE audit_log DROP CONSTRAINT audit_log_actor_kind_check;
    ALTER TABLE audit_log ADD CONSTRAINT audit_log_actor_kind_check
      CHECK (actor_kind IN ('operator', 'key', 'holder')) NOT VALID;
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
