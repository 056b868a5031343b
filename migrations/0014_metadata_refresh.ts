import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

/** When metadata are tried again, and which tokens have told that theirs changed. */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE nft_tokens
      ADD COLUMN uri_stale boolean NOT NULL DEFAULT true,
      ADD COLUMN metadata_due timestamptz,
      ADD COLUMN metadata_tries smallint NOT NULL DEFAULT 0;
    UPDATE nft_tokens SET uri_stale = false WHERE uri_read_at IS NOT NULL;
    UPDATE nft_tokens SET metadata_due = now() WHERE token_uri IS NOT NULL AND metadata IS NULL;
    DROP INDEX nft_tokens_unread;
    DROP INDEX nft_tokens_bare;
    CREATE INDEX nft_tokens_stale ON nft_tokens (chain_id) WHERE uri_stale;
    CREATE INDEX nft_tokens_due ON nft_tokens (chain_id, metadata_due) WHERE metadata_due IS NOT NULL;

    -- Token id -1 stands for all tokens of a contract. A row stays for a day after it was dealt with, so that a
    -- contract that tells of changes all the time is not asked all the time.
    CREATE TABLE nft_refreshes (
      chain_id bigint NOT NULL,
      contract bytea NOT NULL,
      token_id numeric(78) NOT NULL,
      due timestamptz DEFAULT now() + interval '30 seconds',
      done_at timestamptz,
      PRIMARY KEY (chain_id, contract, token_id)
    );
    CREATE INDEX nft_refreshes_due ON nft_refreshes (chain_id, due) WHERE due IS NOT NULL;
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
