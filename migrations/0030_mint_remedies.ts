import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/**
 * What operators ask of a lane, which alone can sign: to use a nonce that nothing uses, and to sign a transaction anew
 * without an NFT.
 */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE mint_lanes ADD COLUMN fill_nonce bigint CHECK (fill_nonce >= 0);
    ALTER TABLE mint_transaction_nfts ADD COLUMN asked_out boolean NOT NULL DEFAULT false;
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
