import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * An archived RWA is in no list unless it is asked for. It counts apart: its facets are those of migration 0039 with an `a`
 * before them, so counters that are there stay true, and a release that knows nothing of archives counts what is not
 * archived.
 */
const isArchived = (row: string) => `CASE WHEN ${row}.archived_at IS NULL THEN '' ELSE 'a' END`;
const flags = (row: string) => `${isArchived(row)}, ${row}.is_buyable::int, ${row}.is_claimable::int`;

const append = (row: string, change: string) => {
  const place = `(extract(epoch FROM ${row}.created_at) * 1000000)::bigint >> 16`;
  const values = [`concat(${flags(row)})`, `concat(${flags(row)}, ':', ${row}.type)`].map(
    (facet) => `(${row}.company_id, 'rwas', ${place}, ${facet}, ${change})`,
  );
  return `INSERT INTO list_count_changes (company_id, list, place, facet, change) VALUES ${values.join()};`;
};

const counting = (name: string, body: string) => `
  CREATE OR REPLACE FUNCTION rwas_count_${name}() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN ${body} RETURN NULL; END $$;`;

const counted = ['type', 'is_buyable', 'is_claimable', 'created_at', 'archived_at'];
const isOther = counted.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ');

const change = `
  ALTER TABLE rwas ADD COLUMN IF NOT EXISTS archived_at timestamptz;
  ${counting('new', append('NEW', '1'))}
  ${counting('gone', append('OLD', '-1'))}
  ${counting('changed', append('OLD', '-1') + append('NEW', '1'))}
  CREATE OR REPLACE TRIGGER rwas_count_changed AFTER UPDATE OF ${counted.join()} ON rwas FOR EACH ROW
    WHEN (${isOther}) EXECUTE FUNCTION rwas_count_changed();
  CREATE OR REPLACE TRIGGER rwas_touch BEFORE UPDATE OF name, description, type, image_url, chain_id, contract_address,
    is_buyable, is_claimable, price, currency, data, claim_base_url, archived_at ON rwas
    FOR EACH ROW EXECUTE FUNCTION touch_updated_at();
`;

export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, change));
  // Beside the writers. Cut off half-way, it leaves one that nobody uses, and is run again.
  await knex.raw('DROP INDEX IF EXISTS rwas_listed');
  await knex.raw(
    'CREATE INDEX CONCURRENTLY rwas_listed ON rwas (company_id, created_at, id) WHERE archived_at IS NULL',
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
