import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

// Whether the door reads the chains again. With the default, events of earlier releases ask for nothing more.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    'ALTER TABLE events ADD COLUMN recheck_at_checkin boolean NOT NULL DEFAULT false;',
  );
}

export { down } from '../src/db/schema/forward-only.ts';
