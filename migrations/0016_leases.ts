import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// `staffed_at` says when a holder with the key last had the lane; the trigger keeps it for workers of 0.1.0, which do not
// write it. A holder without a key is `watch_only`. After `lease_seconds` a standby process may take the lane, whatever the
// clock of the database says. Operators set `nonce_floor` and `fill_nonce`: the lane, which alone can sign, obeys them.
const lanes = `
  ALTER TABLE mint_lanes
    ADD COLUMN staffed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ADD COLUMN watch_only boolean NOT NULL DEFAULT false,
    ADD COLUMN nonce_floor bigint CHECK (nonce_floor >= 0),
    ADD COLUMN lease_seconds integer CHECK (lease_seconds > 0),
    ADD COLUMN fill_nonce bigint CHECK (fill_nonce >= 0);
  CREATE FUNCTION note_lane_staffed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT NEW.watch_only THEN NEW.staffed_at := clock_timestamp(); END IF;
      RETURN NEW;
    END $$;
  CREATE TRIGGER mint_lanes_staffed BEFORE UPDATE OF expires_at ON mint_lanes
    FOR EACH ROW EXECUTE FUNCTION note_lane_staffed();
`;

// For what one process does at a time, such as keeping the index of a network. The fence grows with each holder.
const leases = `
  CREATE TABLE leases (
    name text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    fence bigint NOT NULL,
    holder text NOT NULL,
    taken_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
  );
`;

/** Leases end by the clock, also where the connection of their holder stays open for ever. */
export async function up(knex: Knex): Promise<void> {
  for (const part of [lanes, leases]) await runStatements(knex, part);
}
