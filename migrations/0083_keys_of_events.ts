import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// The event that a key is for. Such a key has one scope, which 0.2.0 does not know: there it opens nothing.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `ALTER TABLE api_keys ADD COLUMN event_id uuid
      CHECK (event_id IS NULL OR (company_id IS NOT NULL AND scopes IS NOT DISTINCT FROM '{events:checkin}'::text[]));`,
  );
}
