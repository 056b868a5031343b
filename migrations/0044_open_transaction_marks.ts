import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * What few NFTs of a transaction have: an earlier mint that it was passed over for, or a wish to mint them by another one. A
 * lane looks for both at all of its transactions that are not final, many times a second, and read all of their NFTs.
 */
const marks = `
  CREATE INDEX CONCURRENTLY mint_transaction_nfts_found
    ON mint_transaction_nfts (transaction_id) WHERE found_block IS NOT NULL;
  CREATE INDEX CONCURRENTLY mint_transaction_nfts_asked_out
    ON mint_transaction_nfts (transaction_id) WHERE state = 'open' AND asked_out;
`;

export async function up(knex: Knex): Promise<void> {
  // Of a run that was cut off, one may be left that nobody uses.
  await knex.raw('DROP INDEX IF EXISTS mint_transaction_nfts_found');
  await knex.raw('DROP INDEX IF EXISTS mint_transaction_nfts_asked_out');
  await runStatements(knex, marks);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
