import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/build-indexes.ts';

/*
 * The list of RWAs by any of its filters: what matches is a few ranges of one of these, each in the order of the list, so that
 * a page of what is rare does not read past everything else. Apart by archived or not, so that a company that archives nothing
 * pays for two. What they replace (`rwas_listed`, `rwas_type`) goes when no release reads by it.
 */
const place = 'is_buyable, is_claimable, created_at, id';
const indexes = {
  rwas_by_flags: `rwas (company_id, ${place}) WHERE archived_at IS NULL`,
  rwas_by_type: `rwas (company_id, type, ${place}) WHERE archived_at IS NULL`,
  rwas_archived_by_flags: `rwas (company_id, ${place}) WHERE archived_at IS NOT NULL`,
  rwas_archived_by_type: `rwas (company_id, type, ${place}) WHERE archived_at IS NOT NULL`,
};

export function up(knex: Knex): Promise<void> {
  return buildIndexes(knex, indexes);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
