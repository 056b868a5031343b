import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';
import { runStatements } from '../src/db/statements.ts';

export { down } from '../src/db/forward-only.ts';

/*
 * Totals and offsets of lists are read from indexes that have the order of the list and what filters it. So the counters of
 * migrations 0039 to 0060 go, with their triggers and tables. Each new index begins as those that it replaces.
 */
const indexes = {
  events_listed: 'events (company_id, created_at DESC, id DESC) INCLUDE (start_date)',
  rwas_in_order: 'rwas (company_id, created_at, id) INCLUDE (type, is_buyable, is_claimable, archived_at)',
  nfts_listed: 'nfts (company_id, rwa_number, serial) INCLUDE (mint_state, updated_at)',
  nfts_by_state: 'nfts (company_id, mint_state, rwa_number, serial) INCLUDE (updated_at)',
  nfts_by_change: 'nfts (company_id, updated_at) INCLUDE (rwa_number, serial, mint_state)',
};
const replaced = [
  ...['events_newest', 'nfts_in_order', 'nfts_in_state', 'nfts_not_minted', 'nfts_changed'],
  ...['rwas_created', 'rwas_type', 'rwas_listed', 'rwas_by_flags', 'rwas_by_type'],
  ...['rwas_archived_by_flags', 'rwas_archived_by_type'],
];

const counted = ['events', 'rwas', 'nfts'].flatMap((table) =>
  ['new', 'gone', 'changed'].map((change) => ({ table, name: `${table}_count_${change}` })),
);

const counters = `
  ${counted.map(({ table, name }) => `DROP TRIGGER IF EXISTS ${name} ON ${table};\n  DROP FUNCTION IF EXISTS ${name}();`).join('\n  ')}
  DROP VIEW IF EXISTS list_count_changes;
  DROP TABLE IF EXISTS list_counts, list_changes, list_splits;
`;

// Cut off half-way, it is run again.
export async function up(knex: Knex): Promise<void> {
  await buildIndexes(knex, indexes);
  for (const index of replaced) await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
  await knex.transaction((tx) => runStatements(tx, counters));
}

export const config = { transaction: false };
