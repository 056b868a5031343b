import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// How many requests a key sent for an operation in a minute. Keys may be those of another service, and rows are history, so
// neither refers to a table.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    CREATE TABLE IF NOT EXISTS usage_minutes (
      company_id text NOT NULL,
      minute timestamptz NOT NULL,
      key_id text NOT NULL,
      operation text NOT NULL,
      calls bigint NOT NULL,
      rejections bigint NOT NULL,
      PRIMARY KEY (company_id, minute, key_id, operation)
    );
    CREATE INDEX IF NOT EXISTS usage_minutes_time ON usage_minutes (minute);
  `,
  );
}
