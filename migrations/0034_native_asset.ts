import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/** The contract that logs movements of the native asset as an ERC-20; null where there is none. */
export const up = (knex: Knex): Promise<void> =>
  runStatements(
    knex,
    `
    ALTER TABLE networks ADD COLUMN native_asset text CHECK (native_asset ~ '^0x[0-9a-fA-F]{40}$');

    UPDATE networks SET native_asset = '0x000000000000000000000000000000000000800A' WHERE chain_id IN (324, 300);
  `,
  );
