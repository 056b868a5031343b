import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * A span of time is counted by its stretches of 17 s, and of the one with its end the rows were read: hundreds of thousands where
 * NFTs are issued at once, or all events begin at eight. Such stretches are counted by parts, 64 of each, down to a microsecond,
 * as those along the lists are (migration 0050): changes say where in their stretch a moment is.
 */
const micros = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;
const inStretch = (moment: string) => `(${micros(moment)} & 16777215)`;

const counting = (table: string, name: string, body: string) => `
  CREATE OR REPLACE FUNCTION ${table}_count_${name}() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN ${body} RETURN NULL; END $$;`;

const nftsIn = (rows: string, change: string) => `
  SELECT company_id, (rwa_number << 32) + least(serial >> 8, 4294967295) AS place, mint_state, updated_at, ${change} AS change
  FROM ${rows}`;

// A change of 0 that brings a later or an earlier moment is a mark. Microseconds are numeric, so they are worked out for each
// group: for each row they took as long as all else.
const countNfts = (...sets: readonly string[]) => {
  const rows = `(${sets.join(' UNION ALL ')}) AS rows`;
  return `
  INSERT INTO list_changes (company_id, list, place, rest, facet, change, latest, earliest)
  SELECT company_id, 'nfts', place, NULL, mint_state, sum(change), ${micros('max(updated_at)')}, ${micros('min(updated_at)')}
  FROM ${rows}
  GROUP BY company_id, place, mint_state
  HAVING sum(change) <> 0 OR max(updated_at) > max(updated_at) FILTER (WHERE change < 0)
    OR min(updated_at) < min(updated_at) FILTER (WHERE change < 0)
  UNION ALL
  SELECT company_id, 'nft_changes', ${micros('updated_at')} >> 24, ${inStretch('updated_at')}, mint_state, sum(change), NULL, NULL
  FROM ${rows}
  GROUP BY company_id, updated_at, mint_state HAVING sum(change) <> 0;`;
};

const ofNfts = [
  counting('nfts', 'new', countNfts(nftsIn('fresh', '1'))),
  counting('nfts', 'gone', countNfts(nftsIn('stale', '-1'))),
  counting('nfts', 'changed', countNfts(nftsIn('stale', '-1'), nftsIn('fresh', '1'))),
];

// As in migration 0050, but for where in its stretch a start is.
const never = 4611686018427387904n;
const countEvent = (row: string, change: string) => {
  const [created, start] = [micros(`${row}.created_at`), micros(`${row}.start_date`)];
  const place = `1099511627775 - (${created} >> 24)`;
  const rest = `(16777215 - (${created} & 16777215)) << 8 | (255 - get_byte(uuid_send(${row}.id), 0))`;
  return `
  INSERT INTO list_changes (company_id, list, place, rest, facet, change, latest, earliest)
  SELECT ${row}.company_id, 'events', ${place}, ${rest}, '', ${change},
    coalesce(${start}, -${never}), coalesce(${start}, ${never});
  IF ${row}.start_date IS NULL THEN
    INSERT INTO list_changes (company_id, list, place, rest, facet, change)
    VALUES (${row}.company_id, 'events', ${place}, ${rest}, '-', ${change});
  ELSE
    INSERT INTO list_changes (company_id, list, place, rest, facet, change)
    VALUES (${row}.company_id, 'event_starts', ${start} >> 24, ${inStretch(`${row}.start_date`)}, '', ${change});
  END IF;`;
};

const ofEvents = [
  counting('events', 'new', countEvent('NEW', '1')),
  counting('events', 'gone', countEvent('OLD', '-1')),
  counting('events', 'changed', countEvent('OLD', '-1') + countEvent('NEW', '1')),
];

// As in the store of the counters: one that has more is parted.
const many = 1_000;
const wanted = `
  INSERT INTO list_splits (company_id, list, shift, bucket)
  SELECT DISTINCT company_id, list, shift, bucket FROM list_counts
  WHERE list IN ('nft_changes', 'event_starts') AND shift = 0 AND count > ${many}
  ON CONFLICT DO NOTHING`;

// To lock a table waits for the transactions that write it: whoever writes later says where its moments are.
const replaced = `
  LOCK TABLE nfts IN SHARE ROW EXCLUSIVE MODE;
  LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE;
  ${[...ofNfts, ...ofEvents].join('')}`;

export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, replaced));
  await knex.raw(wanted);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
