import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * How many NFTs of one RWA changed since a moment was read from them, or from the stretches that all of them lie in: as many as
 * there are where claims come in any order. An RWA with many NFTs is counted by time as all of a company are, in a list of its
 * own. Changes say of which RWA they are, and `list_splits` which RWAs are counted so, or are to be.
 */
const table = 'ALTER TABLE list_changes ADD COLUMN IF NOT EXISTS rwa_number bigint';

const micros = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;

const counting = (name: string, body: string) => `
  CREATE OR REPLACE FUNCTION nfts_count_${name}() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN ${body} RETURN NULL; END $$;`;

const nftsIn = (rows: string, change: string) => `
  SELECT company_id, rwa_number, (rwa_number << 32) + least(serial >> 8, 4294967295) AS place, mint_state, updated_at,
    ${change} AS change FROM ${rows}`;

// As in migration 0051, but for the RWA of what is counted by time.
const countNfts = (...sets: readonly string[]) => {
  const rows = `(${sets.join(' UNION ALL ')}) AS rows`;
  return `
  INSERT INTO list_changes (company_id, list, place, rest, facet, change, latest, earliest, rwa_number)
  SELECT company_id, 'nfts', place, NULL, mint_state, sum(change), ${micros('max(updated_at)')}, ${micros('min(updated_at)')}, NULL
  FROM ${rows}
  GROUP BY company_id, place, mint_state
  HAVING sum(change) <> 0 OR max(updated_at) > max(updated_at) FILTER (WHERE change < 0)
    OR min(updated_at) < min(updated_at) FILTER (WHERE change < 0)
  UNION ALL
  SELECT company_id, 'nft_changes', ${micros('updated_at')} >> 24, ${micros('updated_at')} & 16777215, mint_state, sum(change),
    NULL, NULL, rwa_number
  FROM ${rows}
  GROUP BY company_id, rwa_number, updated_at, mint_state HAVING sum(change) <> 0;`;
};

// As in the store of the counters.
const many = 10_000;
const wanted = `
  INSERT INTO list_splits (company_id, list, shift, bucket)
  SELECT DISTINCT company_id, list, shift, bucket FROM list_counts
  WHERE list = 'nfts' AND shift = 32 AND count > ${many}
  ON CONFLICT DO NOTHING`;

// To lock a table waits for the transactions that write it: whoever writes later says of which RWA its changes are.
const replaced = [
  'LOCK TABLE nfts IN SHARE ROW EXCLUSIVE MODE;',
  counting('new', countNfts(nftsIn('fresh', '1'))),
  counting('gone', countNfts(nftsIn('stale', '-1'))),
  counting('changed', countNfts(nftsIn('stale', '-1'), nftsIn('fresh', '1'))),
].join('');

export async function up(knex: Knex): Promise<void> {
  // By itself: together with the other lock, whoever writes both tables could wait for it, and it for them.
  await knex.raw(table);
  await knex.transaction((tx) => runStatements(tx, replaced));
  await knex.raw(wanted);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
