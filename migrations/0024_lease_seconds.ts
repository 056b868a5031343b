import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/**
 * For how long the lease of a lane was taken, after which a standby process may take it whatever the clock of the
 * database says. And a trigger that keeps `staffed_at` for workers of the release before, which do not write it.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE mint_lanes ADD COLUMN lease_seconds integer CHECK (lease_seconds > 0);
    CREATE FUNCTION note_lane_staffed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT NEW.watch_only THEN NEW.staffed_at := clock_timestamp(); END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER mint_lanes_staffed BEFORE UPDATE OF expires_at ON mint_lanes
      FOR EACH ROW EXECUTE FUNCTION note_lane_staffed();
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
