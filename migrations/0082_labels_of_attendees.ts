import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// A name or number for the person at the door, and whether tickets of an event show it.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE events ADD COLUMN label_on_tickets boolean NOT NULL DEFAULT false;
    ALTER TABLE attendees ADD COLUMN label text CHECK (length(label) BETWEEN 1 AND 64);
  `,
  );
}
