import type { Knex } from 'knex';

/** Until when a token that was refreshed is left alone, rather than when it was: a cluster compares no sums of times. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE nft_refreshes RENAME COLUMN done_at TO rests_until;
    UPDATE nft_refreshes SET rests_until = rests_until + interval '10 minutes';
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
