import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Whether a text at the door may be a user ID. Events of earlier releases keep what they allowed: the first default is theirs. The
// second is that of all later events, also of those that the last release creates.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE events
      ADD COLUMN IF NOT EXISTS ids_in_items boolean NOT NULL DEFAULT true,
      ADD COLUMN IF NOT EXISTS tickets_only boolean NOT NULL DEFAULT false;
    ALTER TABLE events ALTER COLUMN ids_in_items SET DEFAULT false;
  `,
  );
}
