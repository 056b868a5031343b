import type { Knex } from 'knex';
import { buildIndexes } from '../src/db/schema/build-indexes.ts';

export { down } from '../src/db/schema/forward-only.ts';

// `GET /usage` counts the mints of some days by key: from this index alone, however many other entries the log has.
export async function up(knex: Knex): Promise<void> {
  await buildIndexes(knex, {
    audit_log_mints: "audit_log (company_id, at) INCLUDE (actor_kind, actor) WHERE action = 'nft.mint'",
  });
}

export const config = { transaction: false };
