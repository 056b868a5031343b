import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * A list that a moment narrows is counted by its counters where all rows of a stretch match: those of NFTs get the earliest
 * moment as well (migration 0045 has the latest), which says so. Events without a start are beside the marks, so they are
 * counted once more, as the facet `-`: without them, what lies between the marks of a stretch matches.
 */
const micros = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;

const counting = (table: string, name: string, body: string) => `
  CREATE OR REPLACE FUNCTION ${table}_count_${name}() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN ${body} RETURN NULL; END $$;`;

const placeOfNft = '(rwa_number << 32) + least(serial >> 8, 4294967295)';

const nftsIn = (rows: string, change: string) => `
  SELECT company_id, 'nfts' AS list, ${placeOfNft} AS place, mint_state AS facet, ${change} AS change,
    ${micros('updated_at')} AS moment FROM ${rows}
  UNION ALL
  SELECT company_id, 'nft_changes', ${micros('updated_at')} >> 24, mint_state, ${change}, NULL FROM ${rows}`;

// A change of 0 that brings a later or an earlier moment is a mark.
const countNfts = (...rows: readonly string[]) => `
  INSERT INTO list_changes (company_id, list, place, facet, change, latest, earliest)
  SELECT company_id, list, place, facet, sum(change), max(moment), min(moment)
  FROM (${rows.join(' UNION ALL ')}) AS rows
  GROUP BY company_id, list, place, facet
  HAVING sum(change) <> 0 OR max(moment) > max(moment) FILTER (WHERE change < 0)
    OR min(moment) < min(moment) FILTER (WHERE change < 0);`;

const ofNfts = [
  counting('nfts', 'new', countNfts(nftsIn('fresh', '1'))),
  counting('nfts', 'gone', countNfts(nftsIn('stale', '-1'))),
  counting('nfts', 'changed', countNfts(nftsIn('stale', '-1'), nftsIn('fresh', '1'))),
];

// An event without a start is at no time: earlier and later than any moment that is asked for.
const never = 4611686018427387904n;
const placeOfEvent = (row: string) => `1099511627775 - (${micros(`${row}.created_at`)} >> 24)`;
const marksOfEvent = (row: string) => {
  const start = micros(`${row}.start_date`);
  return `coalesce(${start}, -${never}) AS latest, coalesce(${start}, ${never}) AS earliest`;
};

const countEvent = (row: string, change: string) => `
  INSERT INTO list_changes (company_id, list, place, facet, change, latest, earliest)
  SELECT ${row}.company_id, 'events', ${placeOfEvent(row)}, '', ${change}, ${marksOfEvent(row)};
  IF ${row}.start_date IS NULL THEN
    INSERT INTO list_changes (company_id, list, place, facet, change)
    VALUES (${row}.company_id, 'events', ${placeOfEvent(row)}, '-', ${change});
  ELSE
    INSERT INTO list_changes (company_id, list, place, facet, change)
    VALUES (${row}.company_id, 'event_starts', ${micros(`${row}.start_date`)} >> 24, '', ${change});
  END IF;`;

const ofEvents = [
  counting('events', 'new', countEvent('NEW', '1')),
  counting('events', 'gone', countEvent('OLD', '-1')),
  counting('events', 'changed', countEvent('OLD', '-1') + countEvent('NEW', '1')),
];

type Counted = { readonly list: string; readonly shifts: readonly number[]; readonly rows: string };

const counted: readonly Counted[] = [
  {
    ...{ list: 'nfts', shifts: [0, 8, 32, 40, 48] },
    rows: `SELECT company_id, ${placeOfNft} AS place, mint_state AS facet, count(*),
        ${micros('max(updated_at)')} AS latest, ${micros('min(updated_at)')} AS earliest
      FROM nfts GROUP BY company_id, ${placeOfNft}, mint_state`,
  },
  {
    ...{ list: 'events', shifts: [0, 8, 16] },
    rows: `SELECT company_id, place, facet, count(*), max(latest) AS latest, min(earliest) AS earliest
      FROM (
        SELECT company_id, ${placeOfEvent('events')} AS place, '' AS facet, ${marksOfEvent('events')} FROM events
        UNION ALL
        SELECT company_id, ${placeOfEvent('events')}, '-', NULL, NULL FROM events WHERE start_date IS NULL) AS marked
      GROUP BY company_id, place, facet`,
  },
];

// One statement, so one snapshot, as in migration 0039. In order: a walk reads neighbours.
const present = ({ list, shifts, rows }: Counted) => `
  WITH seen AS (DELETE FROM list_changes WHERE list = '${list}'), leaves AS (${rows})
  INSERT INTO list_counts (company_id, list, shift, bucket, facet, count, latest, earliest)
  SELECT company_id, '${list}', shift, place >> shift, facet, sum(count), max(latest), min(earliest)
  FROM leaves, unnest('{${shifts.join()}}'::int[]) AS shift GROUP BY company_id, shift, place >> shift, facet
  ORDER BY company_id, shift, place >> shift, facet`;

// As in the store of the counters.
const foldLock = "pg_advisory_xact_lock(hashtext('tallystick list counts'))";

// To lock a table waits for the transactions that write it: those that come later count by these functions.
const replaced = `
  LOCK TABLE nfts IN SHARE ROW EXCLUSIVE MODE;
  LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE;
  ${[...ofNfts, ...ofEvents].join('')}`;

export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, replaced));
  // Cut off half-way, it is run again.
  for (const each of counted) {
    await knex.transaction(async (tx) => {
      await tx.raw(`SELECT ${foldLock}`);
      await tx('list_counts').where({ list: each.list }).delete();
      await tx.raw(present(each));
    });
  }
  await knex.raw('ANALYZE list_counts');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
