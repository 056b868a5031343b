import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// The response that a repeated request gets again, with its fields in the first order: `json` keeps it, `jsonb` does not.
// `answer` stays for processes of 0.1.0.
const answers = `
  ALTER TABLE idempotency_records ADD COLUMN IF NOT EXISTS ordered_answer json;
`;

// What a company may mint in a day (UTC): so many NFTs, and for so much gas on each network. Without a row it has no limit.
const limits = `
  CREATE TABLE IF NOT EXISTS company_limits (
    company_id text PRIMARY KEY REFERENCES companies ON DELETE CASCADE,
    mints_per_day bigint NOT NULL CHECK (mints_per_day >= 0)
  );
  CREATE TABLE IF NOT EXISTS company_gas_budgets (
    company_id text NOT NULL REFERENCES companies ON DELETE CASCADE,
    chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
    wei_per_day numeric(78) NOT NULL CHECK (wei_per_day >= 0),
    PRIMARY KEY (company_id, chain_id)
  );
  CREATE INDEX IF NOT EXISTS company_gas_budgets_chain ON company_gas_budgets (chain_id);
`;

// What it has used. These rows are history, so `company_id` refers to no table.
const used = `
  CREATE TABLE IF NOT EXISTS company_mint_days (
    company_id text NOT NULL,
    day date NOT NULL,
    accepted bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, day)
  );
  CREATE TABLE IF NOT EXISTS company_gas_days (
    company_id text NOT NULL,
    chain_id bigint NOT NULL,
    day date NOT NULL,
    wei numeric(78) NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, chain_id, day)
  );
`;

// What a transaction cost by its receipt, and the day to which that is counted. Null until it is mined, and again after a
// reorganisation.
const costs = `
  ALTER TABLE mint_transactions
    ADD COLUMN IF NOT EXISTS cost numeric(78),
    ADD COLUMN IF NOT EXISTS cost_day date;
`;

// Each part locks few tables, and for a moment. Cut off half-way, the migration is run again.
export async function up(knex: Knex): Promise<void> {
  for (const part of [answers, limits, used, costs]) await knex.transaction((tx) => runStatements(tx, part));
}

export const config = { transaction: false };
