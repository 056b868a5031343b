import type { Knex } from 'knex';

/** Metadata over 64 kB, which earlier releases kept whole, are fetched again; until then they are not answered. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE nft_tokens SET metadata_due = now(), metadata_tries = 0
    WHERE octet_length(metadata) > 65536 AND token_uri IS NOT NULL;
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
