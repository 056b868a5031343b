import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * The first delivery of each subject that waits, and the newest news of a type of a subject: from one row each, however many others the
 * subject has.
 */
export async function up(knex: Knex): Promise<void> {
  await buildIndexes(knex, {
    news_deliveries_heads: 'news_deliveries (endpoint_id, subject, position) WHERE NOT delivered',
    news_of_type: 'news (subject, type, seq)',
  });
}

export const config = { transaction: false };
