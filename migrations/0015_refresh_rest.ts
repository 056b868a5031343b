import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

/**
 * Until when a token that was refreshed is left alone, rather than when it was: a cluster compares no sums of times, nor
 * does it add to times with a zone.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE nft_refreshes RENAME COLUMN done_at TO rests_until;
    UPDATE nft_refreshes SET rests_until = (rests_until AT TIME ZONE 'UTC' + interval '10 minutes') AT TIME ZONE 'UTC';
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
