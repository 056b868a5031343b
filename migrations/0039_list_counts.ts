import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * Lists know how many rows they have, and where a row far down stands, without reading those before it. Each list lays
 * its rows out on one line of places; `list_counts` counts the rows of each stretch of 2^shift places, for a few
 * shifts, and apart by what the list is filtered by (the facet). Stretches without rows have no row.
 *
 * Writers only append to `list_count_changes`: a counter that all writers of a company change would make them wait for
 * each other. What was appended is folded into `list_counts` later, and counts from its commit on. Triggers append, so
 * releases that know nothing of it count as well; they run as their owner, since those have no right to the table.
 */
const tables = `
  CREATE TABLE list_counts (
    company_id text NOT NULL,
    list text NOT NULL,
    shift smallint NOT NULL,
    bucket bigint NOT NULL,
    facet text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (company_id, list, shift, bucket, facet)
  ) WITH (fillfactor = 80);
  CREATE TABLE list_count_changes (
    company_id text NOT NULL,
    list text NOT NULL,
    place bigint NOT NULL,
    facet text NOT NULL,
    change bigint NOT NULL
  );
  CREATE INDEX list_count_changes_of_list ON list_count_changes (company_id, list);
`;

/** By the name of a row, or of a table of rows. */
type Sql = (row: string) => string;

type List = {
  readonly name: string;
  readonly table: 'nfts' | 'rwas' | 'events';
  readonly place: Sql;
  /** What a row counts for, each once. */
  readonly facets: readonly Sql[];
  readonly isCounted?: Sql;
  readonly shifts: readonly number[];
};

const micros = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;
const time = (moment: string) => `(${micros(moment)} >> 24)`;
const flags: Sql = (row) => `${row}.is_buyable::int, ${row}.is_claimable::int`;

// The places of NFTs are stretches of 256 serials of an RWA; of RWAs, which come in files of many, 66 ms; of the others
// 17 s. Events are listed from the newest.
const lists: readonly List[] = [
  {
    ...{ name: 'nfts', table: 'nfts', shifts: [0, 8, 32, 40, 48], facets: [(row) => `${row}.mint_state`] },
    place: (row) => `(${row}.rwa_number << 32) + least(${row}.serial >> 8, 4294967295)`,
  },
  {
    ...{ name: 'nft_changes', table: 'nfts', shifts: [0, 8, 16], facets: [(row) => `${row}.mint_state`] },
    place: (row) => time(`${row}.updated_at`),
  },
  {
    ...{ name: 'rwas', table: 'rwas', shifts: [0, 8, 16, 24] },
    place: (row) => `${micros(`${row}.created_at`)} >> 16`,
    facets: [(row) => `concat(${flags(row)})`, (row) => `concat(${flags(row)}, ':', ${row}.type)`],
  },
  {
    ...{ name: 'events', table: 'events', shifts: [0, 8, 16], facets: [() => "''"] },
    place: (row) => `1099511627775 - ${time(`${row}.created_at`)}`,
  },
  {
    ...{ name: 'event_starts', table: 'events', shifts: [0, 8, 16], facets: [() => "''"] },
    place: (row) => time(`${row}.start_date`),
    isCounted: (row) => `${row}.start_date IS NOT NULL`,
  },
];

const columns = '(company_id, list, place, facet, change)';

const placed = ({ name, place, facets, isCounted }: List, rows: string, sign: string) => `
  SELECT company_id, '${name}' AS list, ${place(rows)} AS place, f.facet, ${sign}1 AS change
  FROM ${rows} CROSS JOIN LATERAL (VALUES ${facets.map((facet) => `(${facet(rows)})`).join()}) AS f (facet)
  WHERE ${isCounted?.(rows) ?? true}`;

const trigger = (name: string, table: string, when: string, body: string) => `
  CREATE FUNCTION ${table}_${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  BEGIN ${body} RETURN NULL; END $$;
  CREATE TRIGGER ${table}_${name} AFTER ${when} EXECUTE FUNCTION ${table}_${name}();`;

/** Triggers for rows that come and change in sets. */
function triggersOfSets(table: List['table']): string {
  const counted = lists.filter((list) => list.table === table);
  const gone = counted.map((list) => placed(list, 'stale', '-'));
  const come = counted.map((list) => placed(list, 'fresh', ''));
  const append = (rows: readonly string[]) => `
    INSERT INTO list_count_changes ${columns}
    SELECT company_id, list, place, facet, sum(change) FROM (${rows.join(' UNION ALL ')}) AS rows
    GROUP BY company_id, list, place, facet HAVING sum(change) <> 0;`;
  const each = 'FOR EACH STATEMENT';
  const both = 'OLD TABLE AS stale NEW TABLE AS fresh';
  return [
    trigger('count_new', table, `INSERT ON ${table} REFERENCING NEW TABLE AS fresh ${each}`, append(come)),
    trigger('count_gone', table, `DELETE ON ${table} REFERENCING OLD TABLE AS stale ${each}`, append(gone)),
    trigger(
      'count_changed',
      table,
      `UPDATE ON ${table} REFERENCING ${both} ${each}`,
      append([...gone, ...come]),
    ),
  ].join('');
}

/** Triggers for rows that come one by one, of which few changes matter: at a third of the cost. */
function triggersOfRows(table: List['table'], watched: readonly string[]): string {
  const append = (row: string, change: string) =>
    lists
      .filter((list) => list.table === table)
      .map(({ name, place, facets, isCounted }) => {
        const values = facets.map(
          (facet) => `(${row}.company_id, '${name}', ${place(row)}, ${facet(row)}, ${change})`,
        );
        const insert = `INSERT INTO list_count_changes ${columns} VALUES ${values.join()};`;
        return isCounted ? `IF ${isCounted(row)} THEN ${insert} END IF;` : insert;
      })
      .join(' ');
  const isOther = watched.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ');
  const update = `UPDATE OF ${watched.join()} ON ${table} FOR EACH ROW WHEN (${isOther})`;
  return [
    trigger('count_new', table, `INSERT ON ${table} FOR EACH ROW`, append('NEW', '1')),
    trigger('count_gone', table, `DELETE ON ${table} FOR EACH ROW`, append('OLD', '-1')),
    trigger('count_changed', table, update, append('OLD', '-1') + append('NEW', '1')),
  ].join('');
}

// Most changes of RWAs and events are of their own counters, which no list depends on.
const triggers = [
  triggersOfSets('nfts'),
  triggersOfRows('rwas', ['type', 'is_buyable', 'is_claimable', 'created_at']),
  triggersOfRows('events', ['start_date', 'created_at']),
].join('');

// One statement for each list, so one snapshot: what was appended and can be seen in it is among the rows that are
// counted, and what cannot is not. No writer waits, however many rows there are.
const present = (list: List) => `
  WITH seen AS (DELETE FROM list_count_changes WHERE list = '${list.name}'),
  leaves AS (SELECT company_id, place, facet, count(*) FROM (${placed(list, list.table, '')}) AS rows
    GROUP BY company_id, place, facet)
  INSERT INTO list_counts (company_id, list, shift, bucket, facet, count)
  SELECT company_id, '${list.name}', shift, place >> shift, facet, sum(count)
  FROM leaves, unnest('{${list.shifts.join()}}'::int[]) AS shift GROUP BY company_id, shift, place >> shift, facet`;

// Creating a trigger waits for the transactions that write the table, so whatever is not appended is there to count.
export async function up(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasTable('list_counts'))) {
    await knex.transaction((tx) => runStatements(tx, `${tables}${triggers}`));
  }
  // Cut off half-way, it is run again.
  await knex('list_counts').delete();
  for (const list of lists) await knex.raw(present(list));
  // Plans are made before the server would analyse it by itself.
  await knex.raw('ANALYZE list_counts');
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}

export const config = { transaction: false };
