import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

export { down } from '../src/db/forward-only.ts';

/**
 * Wrong claim secrets, counted for whoever sent them. The nil id has the count of a caller over all NFTs. NFTs are not
 * referenced: unknown ids are counted like others. Release 0.1.0 counts in `secret_attempts`, so that table stays until a
 * release later; it never had `unknown_claims`.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    CREATE TABLE wrong_secrets (
      caller bytea NOT NULL,
      nft_id uuid NOT NULL,
      wrong integer NOT NULL CHECK (wrong > 0),
      window_ends_at timestamptz NOT NULL,
      PRIMARY KEY (caller, nft_id)
    );
    CREATE INDEX wrong_secrets_expiry ON wrong_secrets (window_ends_at);
    DROP TABLE unknown_claims;
  `,
  );
}
