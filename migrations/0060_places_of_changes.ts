import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';

/*
 * Whether anything is left to be folded into a stretch that has become empty is a look at its places. By an index of company and list
 * alone it was one at all that was left of the company: a batch of emptied stretches against ten thousands of changes did not end in
 * its time, and nothing of any company was folded any more.
 */
const indexes = {
  list_changes_of_place: 'list_changes (company_id, list, facet, place)',
};

export async function up(knex: Knex): Promise<void> {
  await buildIndexes(knex, indexes);
  // It begins as the new one does.
  await knex.raw('DROP INDEX CONCURRENTLY IF EXISTS list_changes_of_list');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
