import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Who owned the NFTs of an RWA at a final block. The hash and all after it are null until the block is final.
const snapshots = `
  CREATE TABLE ownership_snapshots (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    company_id text NOT NULL REFERENCES companies,
    rwa_id uuid NOT NULL REFERENCES rwas,
    block_number numeric(78) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    block_hash text,
    block_time timestamptz,
    token_count integer,
    holder_count integer,
    merkle_root text,
    taken_at timestamptz
  );
  CREATE INDEX ownership_snapshots_of_rwa ON ownership_snapshots (rwa_id);
  CREATE INDEX ownership_snapshots_of_company ON ownership_snapshots (company_id);
  CREATE INDEX ownership_snapshots_pending ON ownership_snapshots (created_at) WHERE taken_at IS NULL;
  CREATE TABLE snapshot_holders (
    snapshot_id uuid NOT NULL REFERENCES ownership_snapshots,
    wallet text NOT NULL,
    token_ids numeric(78)[] NOT NULL,
    proof text[] NOT NULL,
    PRIMARY KEY (snapshot_id, wallet)
  );
`;

// Nothing changes what was taken, whoever asks.
const immutable = `
  CREATE FUNCTION keep_snapshot() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
  BEGIN
    RAISE EXCEPTION 'a snapshot that was taken does not change' USING ERRCODE = 'restrict_violation';
  END $$;
  CREATE TRIGGER ownership_snapshots_keep BEFORE UPDATE OR DELETE ON ownership_snapshots
    FOR EACH ROW WHEN (OLD.taken_at IS NOT NULL) EXECUTE FUNCTION keep_snapshot();
  CREATE TRIGGER snapshot_holders_keep BEFORE UPDATE OR DELETE ON snapshot_holders
    FOR EACH ROW EXECUTE FUNCTION keep_snapshot();
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [snapshots, immutable]) await runStatements(knex, part);
}
