import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Each process of the service renews its row every 15 s and deletes it when it stops, so that operators see which roles have one.
const processes = `
  CREATE TABLE processes (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    roles text[] NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
  ) WITH (fillfactor = 20);
`;

// Of processes that read from a replica: whatever was committed before a heartbeat is on a replica that shows it.
const heartbeats = `
  CREATE TABLE replica_heartbeats (
    process uuid PRIMARY KEY,
    beat integer NOT NULL,
    beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
  ) WITH (fillfactor = 20);
`;

/** Signs of life. Of rows that change so often, the versions stay on one page. */
export async function up(knex: Knex): Promise<void> {
  for (const part of [processes, heartbeats]) await runStatements(knex, part);
}
