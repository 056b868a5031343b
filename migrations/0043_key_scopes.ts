import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

// What a key is limited to; null for a key that may do everything. And the minute of its last use, which processes store now and
// then: nobody has to verify a key again because of it, so it notifies nobody.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE api_keys
      ADD COLUMN IF NOT EXISTS scopes text[] CHECK (cardinality(scopes) > 0),
      ADD COLUMN IF NOT EXISTS last_used_at timestamptz;
    CREATE OR REPLACE TRIGGER api_keys_notify
      AFTER INSERT OR DELETE OR UPDATE OF company_id, hash, rate_per_second, rate_burst, scopes, expires_at, revoked_at
      ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_api_key();
  `,
  );
}
