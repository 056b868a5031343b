import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// In wei: networks whose nodes suggest less than they take.
const tips = `
  ALTER TABLE networks ADD COLUMN min_tip numeric(78) NOT NULL DEFAULT 0 CHECK (min_tip >= 0);
`;

// Whose NFTs a transaction has, by which companies take turns.
const companies = `
  ALTER TABLE mint_transactions ADD COLUMN company_ids text[] NOT NULL DEFAULT '{}';
`;

// How the last transactions to a contract ended: the breaker of the contract. One that ran out of gas is no attempt of its NFTs.
const breakers = `
  ALTER TABLE mint_contracts
    ADD COLUMN failures integer NOT NULL DEFAULT 0,
    ADD COLUMN gas_factor integer NOT NULL DEFAULT 1,
    ADD COLUMN probed_at timestamptz;
  ALTER TABLE mint_transactions ADD COLUMN out_of_gas boolean NOT NULL DEFAULT false;
`;

// NFTs whose recipient their contract has refused. A row whose NFT no longer waits shows what is to be expected of its recipient.
const refusals = `
  CREATE TABLE mint_refusals (
    nft_id uuid PRIMARY KEY REFERENCES nfts ON DELETE CASCADE,
    chain_id bigint NOT NULL,
    contract text NOT NULL,
    recipient text NOT NULL,
    -- The newest block then.
    refused_at numeric(78) NOT NULL,
    is_waiting boolean NOT NULL DEFAULT true
  );
  CREATE INDEX mint_refusals_recipient ON mint_refusals (chain_id, contract, recipient);
  CREATE INDEX mint_refusals_waiting ON mint_refusals (chain_id) WHERE is_waiting;
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [tips, companies, breakers, refusals]) await runStatements(knex, part);
}
