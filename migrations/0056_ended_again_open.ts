import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * A chain that was rolled back may still mine the bytes of a transaction that had ended. What it had not minted is left out of it
 * then, waits until the nonce is final, and becomes again what it was: ended_as and ended_reason.
 */
const columns = `
  ALTER TABLE mint_transaction_nfts
    ADD COLUMN IF NOT EXISTS ended_as text CHECK (ended_as IN ('queued', 'failed', 'unclaimed')),
    ADD COLUMN IF NOT EXISTS ended_reason text;
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, columns);
  await buildIndexes(knex, {
    mint_transaction_nfts_ended: 'mint_transaction_nfts (transaction_id) WHERE ended_as IS NOT NULL',
  });
}

export const config = { transaction: false };
