import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * What a company may mint in a day (UTC): so many NFTs, and for so much gas on each network; and what it has used. A
 * company without a row has no limit. `company_id` refers to no table where rows are history.
 */
const limits = `
  CREATE TABLE company_limits (
    company_id text PRIMARY KEY REFERENCES companies ON DELETE CASCADE,
    mints_per_day bigint NOT NULL CHECK (mints_per_day >= 0)
  );
  CREATE TABLE company_gas_budgets (
    company_id text NOT NULL REFERENCES companies ON DELETE CASCADE,
    chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
    wei_per_day numeric(78) NOT NULL CHECK (wei_per_day >= 0),
    PRIMARY KEY (company_id, chain_id)
  );
`;

const used = `
  CREATE TABLE company_mint_days (
    company_id text NOT NULL,
    day date NOT NULL,
    accepted bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, day)
  );
  CREATE TABLE company_gas_days (
    company_id text NOT NULL,
    chain_id bigint NOT NULL,
    day date NOT NULL,
    wei numeric(78) NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, chain_id, day)
  );
`;

// What a transaction cost by its receipt, and the day to which that is counted; null until it is mined, and again after
// a reorganisation.
const costs = `
  ALTER TABLE mint_transactions ADD COLUMN cost numeric(78), ADD COLUMN cost_day date;
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [limits, used, costs]) await runStatements(knex, part);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
