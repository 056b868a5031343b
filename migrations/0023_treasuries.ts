import type { Knex } from 'knex';

/**
 * No treasury is the zero address, to which no ERC-721 contract mints. Rows that have it already stay as they are
 * (`NOT VALID`) and are named by `tallystick doctor`.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE companies ADD CONSTRAINT companies_treasury_not_zero
      CHECK (treasury_address <> '0x0000000000000000000000000000000000000000') NOT VALID
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
