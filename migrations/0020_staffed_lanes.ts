import type { Knex } from 'knex';

/**
 * When a process that has the lane's signer last held the lane, so that a network whose signers are gone is known to
 * be one; and whether the present holder only watches, because it has no key. A lane that is there already counts as
 * held at this moment.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE mint_lanes
      ADD COLUMN staffed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      ADD COLUMN watch_only boolean NOT NULL DEFAULT false
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
