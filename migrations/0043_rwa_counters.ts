import type { Knex } from 'knex';

/*
 * The list of RWAs gets counters of two more widths, between those that it has (migration 0039): a walk to an offset read
 * 256 stretches of each width, by as many facets as there are types, and most of its time was that. NFTs stay as they are:
 * their counters change with each mint, and each width more costs a write.
 */
const wider = `
  INSERT INTO list_counts (company_id, list, shift, bucket, facet, count)
  SELECT company_id, list, shift + 4, bucket >> 4, facet, sum(count) FROM list_counts
  WHERE list = 'rwas' AND shift IN (8, 16) GROUP BY company_id, list, shift, bucket >> 4, facet`;

// As in the store of the counters: who folds meanwhile waits, and then counts these, too.
const foldLock = "pg_advisory_xact_lock(hashtext('tallystick list counts'))";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`SELECT ${foldLock}`);
  await knex.raw(wider);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
