import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * The smallest stretches of events are 17 s and those of RWAs 66 ms (migration 0039), and a file or a busy minute puts tens of
 * thousands of rows into one, through which an offset was read. A stretch with many rows is counted by parts, 256 of events and 64 of
 * RWAs, and a part with many by as many of its own, down to a microsecond and to the first byte of the id: few stretches need it,
 * so few are. Counters of parts have shifts below 0; `list_splits` says which stretches have them, or are to have them.
 *
 * Changes say where in its smallest stretch a row stands: its microseconds there and the first byte of its id, `rest`. Those
 * from before have none, and no stretch is parted yet.
 */
const tables = `
  ALTER TABLE list_changes ADD COLUMN IF NOT EXISTS rest bigint;
  CREATE TABLE IF NOT EXISTS list_splits (
    company_id text NOT NULL,
    list text NOT NULL,
    shift smallint NOT NULL,
    bucket bigint NOT NULL,
    is_counted boolean NOT NULL DEFAULT false,
    PRIMARY KEY (company_id, list, shift, bucket)
  );
  CREATE INDEX IF NOT EXISTS list_splits_wanted ON list_splits (list) WHERE NOT is_counted;
`;

const micros = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;

const counting = (table: string, name: string, body: string) => `
  CREATE OR REPLACE FUNCTION ${table}_count_${name}() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN ${body} RETURN NULL; END $$;`;

const counted = (table: string, count: (row: string, change: string) => string) =>
  [
    counting(table, 'new', count('NEW', '1')),
    counting(table, 'gone', count('OLD', '-1')),
    counting(table, 'changed', count('OLD', '-1') + count('NEW', '1')),
  ].join('');

const firstByte = (row: string) => `get_byte(uuid_send(${row}.id), 0)`;

const flags = (row: string) =>
  `CASE WHEN ${row}.archived_at IS NULL THEN '' ELSE 'a' END, ${row}.is_buyable::int, ${row}.is_claimable::int`;

const countRwa = (row: string, change: string) => {
  const created = micros(`${row}.created_at`);
  const values = [`concat(${flags(row)})`, `concat(${flags(row)}, ':', ${row}.type)`].map(
    (facet) =>
      `(${row}.company_id, 'rwas', ${created} >> 16, (${created} & 65535) << 8 | ${firstByte(row)}, ${facet}, ${change})`,
  );
  return `INSERT INTO list_changes (company_id, list, place, rest, facet, change) VALUES ${values.join()};`;
};

// An event without a start is at no time: earlier and later than any moment that is asked for.
const never = 4611686018427387904n;
const countEvent = (row: string, change: string) => {
  const [created, start] = [micros(`${row}.created_at`), micros(`${row}.start_date`)];
  const place = `1099511627775 - (${created} >> 24)`;
  // The newest come first, and so do their parts.
  const rest = `(16777215 - (${created} & 16777215)) << 8 | (255 - ${firstByte(row)})`;
  return `
  INSERT INTO list_changes (company_id, list, place, rest, facet, change, latest, earliest)
  SELECT ${row}.company_id, 'events', ${place}, ${rest}, '', ${change},
    coalesce(${start}, -${never}), coalesce(${start}, ${never});
  IF ${row}.start_date IS NULL THEN
    INSERT INTO list_changes (company_id, list, place, rest, facet, change)
    VALUES (${row}.company_id, 'events', ${place}, ${rest}, '-', ${change});
  ELSE
    INSERT INTO list_changes (company_id, list, place, facet, change)
    VALUES (${row}.company_id, 'event_starts', ${start} >> 24, '', ${change});
  END IF;`;
};

// As in the store of the counters: one that has more is parted.
const many = 1_000;
const wanted = `
  INSERT INTO list_splits (company_id, list, shift, bucket)
  SELECT DISTINCT company_id, list, shift, bucket FROM list_counts
  WHERE list IN ('rwas', 'events') AND shift = 0 AND count > ${many}
  ON CONFLICT DO NOTHING`;

// To lock a table waits for the transactions that write it: whoever writes later says where its rows stand.
const replaced = `
  LOCK TABLE rwas IN SHARE ROW EXCLUSIVE MODE;
  LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE;
  ${tables}${counted('rwas', countRwa)}${counted('events', countEvent)}`;

export async function up(knex: Knex): Promise<void> {
  await knex.transaction((tx) => runStatements(tx, replaced));
  await knex.raw(wanted);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
