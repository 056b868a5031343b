import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

// rate_limits has the columns that rate-limiter-flexible asks for. It is unlogged: a crash of the
// database forgets at most one window of counts, and no write waits for the disk.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    CREATE TABLE idempotency_records (
      company_id text NOT NULL,
      method text NOT NULL,
      path text NOT NULL,
      key text NOT NULL,
      request_hash bytea NOT NULL,
      status integer NOT NULL,
      headers jsonb NOT NULL DEFAULT '{}',
      answer jsonb,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (company_id, method, path, key)
    );
    CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);

    CREATE UNLOGGED TABLE rate_limits (
      key varchar(255) PRIMARY KEY,
      points integer NOT NULL DEFAULT 0,
      expire bigint
    );
    CREATE INDEX rate_limits_expiry ON rate_limits (expire);
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
