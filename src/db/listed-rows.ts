import type { ListName } from './list-levels.ts';

const micros = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;
const time = (moment: string) => `(${micros(moment)} >> 24)`;

type Rows = {
  readonly table: string;
  readonly place: string;
  /** Where in a place it stands, in lists whose places are parted. */
  readonly rest?: string;
  /** What a row counts for, each once. */
  readonly facets: readonly string[];
  readonly condition?: string;
  /** The column that the list is laid out by, where it is by time. */
  readonly at?: string;
  /** The moment that stretches are marked with, or null where they are not. */
  readonly moment?: string;
  /** The column of the RWA that may have its own list. */
  readonly owner?: string;
};

// An event without a start is at no time: earlier and later than any moment that is asked for.
export const never = 1n << 62n;

const placed = ({
  table,
  place,
  rest,
  facets,
  condition = 'true',
  at = 'created_at',
  moment,
  owner,
}: Rows) => `
  SELECT company_id, ${place} AS place, ${rest ?? 'NULL::bigint'} AS rest, f.facet, ${at} AS at,
    ${owner ?? 'NULL::bigint'} AS rwa_number,
    ${moment ? `coalesce(${micros(moment)}, -${never})` : 'NULL::bigint'} AS latest,
    ${moment ? `coalesce(${micros(moment)}, ${never})` : 'NULL::bigint'} AS earliest
  FROM ${table} CROSS JOIN LATERAL (VALUES ${facets.map((facet) => `(${facet})`).join()}) AS f (facet)
  WHERE ${condition}`;

const flags = "CASE WHEN archived_at IS NULL THEN '' ELSE 'a' END, is_buyable::int, is_claimable::int";

const byTime = (at: string) => ({ at, place: time(at), rest: `(${micros(at)} & 16777215)` });

const created = micros('created_at');
const firstByte = 'get_byte(uuid_send(id), 0)';

const events = {
  table: 'events',
  place: `1099511627775 - ${time('created_at')}`,
  rest: `((16777215 - (${created} & 16777215)) << 8 | (255 - ${firstByte}))`,
};

/**
 * SQL of what each row of a list counts for: company, place with its rest, and facets; the marks that it needs; the
 * moment of its place, `at`; and the RWA that may have its own list. The same as in the triggers (migrations 0039, 0041, 0047,
 * 0050, 0051 and 0054).
 */
export const countedRowsSql: Readonly<Record<ListName, string>> = {
  nfts: placed({
    ...{ table: 'nfts', place: '(rwa_number << 32) + least(serial >> 8, 4294967295)' },
    ...{ facets: ['mint_state'], moment: 'updated_at' },
  }),
  nft_changes: placed({
    table: 'nfts',
    ...byTime('updated_at'),
    facets: ['mint_state'],
    owner: 'rwa_number',
  }),
  rwas: placed({
    ...{ table: 'rwas', place: `(${created} >> 16)`, rest: `((${created} & 65535) << 8 | ${firstByte})` },
    facets: [`concat(${flags})`, `concat(${flags}, ':', type)`],
  }),
  events: `${placed({ ...events, facets: ["''"], moment: 'start_date' })}
    UNION ALL ${placed({ ...events, facets: ["'-'"], condition: 'start_date IS NULL' })}`,
  event_starts: placed({
    ...{ table: 'events', ...byTime('start_date'), facets: ["''"] },
    condition: 'start_date IS NOT NULL',
  }),
};
