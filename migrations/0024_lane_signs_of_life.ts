import type { Knex } from 'knex';

/**
 * When a lane last had a holder, which says whether anybody signs on a network, and for how long its lease was taken,
 * after which a standby process may take it whatever the clock of the database says. A trigger keeps the former: a
 * worker of the release before this one clears `expires_at` when it ends and writes nothing else.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE mint_lanes ADD COLUMN last_held_at timestamptz NOT NULL DEFAULT now(),
      ADD COLUMN lease_seconds integer CHECK (lease_seconds > 0);
    CREATE FUNCTION note_lane_held() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.last_held_at := clock_timestamp();
      RETURN NEW;
    END $$;
    CREATE TRIGGER mint_lanes_held BEFORE UPDATE OF expires_at ON mint_lanes
      FOR EACH ROW EXECUTE FUNCTION note_lane_held();
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
