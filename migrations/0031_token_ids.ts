import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

// A token id has the number of its RWA above 64 bits, of which 63 are random. Those of earlier releases have the serial there.
const form = `
  ALTER TABLE nfts
    DROP CONSTRAINT IF EXISTS nfts_check,
    DROP CONSTRAINT IF EXISTS nfts_token_of_rwa,
    ADD CONSTRAINT nfts_token_of_rwa CHECK (token_id - rwa_number::numeric * 18446744073709551616
      BETWEEN 1 AND 9223372036854775807) NOT VALID;
`;

export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, form));
  await buildIndexes(knex, { nfts_token: 'nfts (rwa_id, token_id)' }, 'UNIQUE');
}

export const config = { transaction: false };
