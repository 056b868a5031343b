import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// The newest block of each network that nodes have agreed to be final. A chain that contradicts it was rolled back or started anew.
const finality = `
  CREATE TABLE IF NOT EXISTS network_finality (
    chain_id bigint PRIMARY KEY REFERENCES networks ON DELETE CASCADE,
    number numeric(78) NOT NULL,
    hash text NOT NULL,
    agreed_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, finality);
}
