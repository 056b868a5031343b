import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

// Files of snapshots are read in batches, by wallet in the order of its bytes. The primary key has the order of the database.
export async function up(knex: Knex): Promise<void> {
  await buildIndexes(knex, {
    snapshot_holders_in_order: 'snapshot_holders (snapshot_id, wallet COLLATE "C")',
  });
}

export const config = { transaction: false };
