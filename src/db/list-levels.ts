/*
 * How the counters of lists part them into stretches. A place is where a row stands in a list; a stretch of shift s has 2^s
 * places. The same as in the migrations (0039, 0043, 0045, 0050, 0051).
 */

/** The lists that are counted, with the shifts of their stretches. What lies above the last shift is few. */
export const shiftsOf = {
  nfts: [0, 8, 32, 40, 48],
  nft_changes: [0, 8, 16],
  rwas: [0, 8, 12, 16, 20, 24],
  events: [0, 8, 16],
  event_starts: [0, 8, 16],
} as const;

export type ListName = keyof typeof shiftsOf;

export const listNames = [
  'nfts',
  'nft_changes',
  'rwas',
  'events',
  'event_starts',
] as const satisfies ListName[];

/**
 * What comes behind the place of a row, in so many bits: the microseconds of its moment there, and in lists along which pages are
 * read, the first byte of its id. Parts are numbered from a place on.
 */
type Parts = {
  readonly bits: number;
  readonly idBits: bigint;
  /** By how many of them a stretch or part is parted at once. */
  readonly width: number;
  readonly origin: bigint;
  /** Of lists that begin with the newest: the last microsecond of the first place there can be. */
  readonly last?: bigint;
};

const idBits = 8n;

/** Lists whose places may have many rows, and along which pages are read. */
const parted = {
  // With up to eight facets each, 256 parts were a thousand counters to read for a page.
  rwas: { bits: 24, idBits, width: 6, origin: 0n },
  // From 2^40 on they would not be numbered in 63 bits.
  events: { bits: 32, idBits, width: 8, origin: (1n << 40n) - (1n << 28n), last: (1n << 64n) - 1n },
} as const satisfies Partial<Record<ListName, Parts>>;
export type PartedList = keyof typeof parted;
/** Lists that are only counted by time. */
export const momentBits = { rest: 24, width: 6 } as const;
const moments: Parts = { bits: momentBits.rest, idBits: 0n, width: momentBits.width, origin: 0n };

const partsOf: Readonly<Partial<Record<ListName, Parts>>> = {
  ...parted,
  nft_changes: moments,
  event_starts: moments,
};

// Of address 0, since events begin with the newest.
const lastMicros = parted.events.last - (parted.events.origin << 24n);

/** A stretch with more rows of a facet is parted. */
export const manyRows = 1_000;

/** The shifts of the parts of a list, the widest first, each with that of what is parted by them. */
export const partLevelsOf = (list: ListName): { readonly shift: number; readonly of: number }[] => {
  const { bits, width } = partsOf[list] ?? { bits: 0, width: 1 };
  return Array.from({ length: bits / width }, (_, index) => ({
    shift: -(index + 1) * width,
    of: 0 - index * width,
  }));
};

/** SQL of the stretch of a place and its rest, or of the part of one where the shift is below 0. */
export const bucketSql = (list: ListName, shift: number): string => {
  const { bits, origin } = partsOf[list] ?? { bits: 0, origin: 0n };
  return shift < 0
    ? `(((place - ${origin}) << ${-shift}) | (rest >> ${bits + shift}))`
    : `(place >> ${shift})`;
};

/** The same where the shift is SQL, too. */
export const bucketAtSql = (list: ListName, shift: string): string => {
  const { bits, origin } = partsOf[list] ?? { bits: 0, origin: 0n };
  return `CASE WHEN ${shift} < 0 THEN ((place - ${origin}) << -${shift}) | (rest >> (${bits} + ${shift})) ELSE place >> ${shift} END`;
};

/** SQL of the list that writers append to, of the name of any list: of an RWA's own list (`own-lists.ts`), that of the company. */
export const appendedListSql = (list: string): string => `split_part(${list}, '/', 1)`;

/** SQL of the bucket of a counter, or where it is of a part, of the smallest stretch that the part is in. */
export const stretchOfSql = (counter: string): string => {
  const origins = listNames.flatMap((list) =>
    partsOf[list] ? [`WHEN '${list}' THEN ${partsOf[list].origin}`] : [],
  );
  return `CASE WHEN ${counter}.shift < 0
    THEN (${counter}.bucket >> -${counter}.shift) + CASE ${appendedListSql(`${counter}.list`)} ${origins.join(' ')} END
    ELSE ${counter}.bucket END`;
};

/*
 * A walk that descends into parts knows where it stands by one number, the address: the place with its rest behind it, numbered as
 * parts are. Where a list has no parts, it is the place.
 */

/** How many bits of an address are behind its place. */
export const restBits = (list: ListName): number => partsOf[list]?.bits ?? 0;

/** The shifts of the stretches of a list and of their parts, the narrowest first. */
export const levelsOf = (list: ListName): number[] => [
  ...partLevelsOf(list)
    .map(({ shift }) => shift)
    .toReversed(),
  ...shiftsOf[list],
];

/** SQL of the address of a change; where its rest is unknown, of the first of its place. */
export const addressSql = (list: ListName): string => {
  const { bits, origin } = partsOf[list] ?? { bits: 0, origin: 0n };
  return bits > 0 ? `((place - ${origin}) << ${bits} | coalesce(rest, 0))` : 'place';
};

/** SQL of what the bucket of a counter is beyond that of its address, by its shift. */
export const bucketBaseSql = (list: ListName, shift: string): string => {
  const { origin } = partsOf[list] ?? { origin: 0n };
  return origin > 0 ? `CASE WHEN ${shift} < 0 THEN 0 ELSE ${origin} >> ${shift} END` : '0::bigint';
};

/** The address of an event. */
export const addressOfEvent = ({ createdMicros, id }: Stand): bigint =>
  ((lastMicros - createdMicros) << idBits) | (255n - BigInt(`0x${id.slice(0, 2)}`));

/** SQL of when an event of an address was created, in microseconds, and of the first byte of its id. */
export const eventAtSql = (address: string) => ({
  createdMicros: `(${lastMicros} - (${address} >> ${idBits}))`,
  firstByte: `(255 - (${address} & 255))`,
});

/** SQL of the first of the narrower stretches, or parts, within a stretch, of which `shift` and `bucket` are known. */
export const firstWithinSql = (list: ListName, stretch: string, narrower: string): string =>
  `((${stretch}.bucket - CASE ${stretch}.shift WHEN 0 THEN ${partsOf[list]?.origin ?? 0} ELSE 0 END) << ${stretch}.shift - ${narrower})`;

/** Where a row of a list can stand. */
export type Stand = { readonly createdMicros: bigint; readonly id: string };

/** The first and the last number of the rest of a stretch or a part, with its place before it. */
function spanOf({ bits, origin }: Parts, shift: number, bucket: bigint): readonly [bigint, bigint] {
  const width = BigInt(bits + shift);
  const from = shift < 0 ? (bucket << width) + (origin << BigInt(bits)) : bucket << width;
  return [from, from + (1n << width) - 1n];
}

/**
 * Where a stretch or a part begins and ends.
 * @returns its first and last stand in the order of the list
 */
export function endsOf(
  list: PartedList,
  shift: number,
  bucket: bigint,
): { readonly first: Stand; readonly last: Stand } {
  const [first, last] = spanOf(parted[list], shift, bucket);
  return { first: standAt(list, first), last: standAt(list, last) };
}

/** The earliest and the latest moment of a stretch or a part, in microseconds. */
export function momentsOf(
  list: ListName,
  shift: number,
  bucket: bigint,
): { readonly earliest: bigint; readonly latest: bigint } {
  const parts = partsOf[list];
  if (parts === undefined) throw new Error(`The stretches of ${list} have no parts.`);
  const { last } = parts;
  const [from, until] = spanOf(parts, shift, bucket).map((at) => at >> parts.idBits) as [bigint, bigint]; // as many
  return last === undefined
    ? { earliest: from, latest: until }
    : { earliest: last - until, latest: last - from };
}

const anyId = (digit: string) => `${digit.repeat(6)}-${[4, 4, 4, 12].map((n) => digit.repeat(n)).join('-')}`;

function standAt(list: PartedList, at: bigint): Stand {
  const { last }: Parts = parted[list];
  const [micros, byte] = [at >> idBits, Number(at & ((1n << idBits) - 1n))];
  const hex = (value: number) => value.toString(16).padStart(2, '0');
  return last === undefined
    ? { createdMicros: micros, id: `${hex(byte)}${anyId('0')}` }
    : { createdMicros: last - micros, id: `${hex(255 - byte)}${anyId('f')}` };
}

type Level = { readonly shift: number; readonly sql: string };

/**
 * SQL that takes each row with a company, a place and its rest to the stretches of the list that count it: `shift` and `bucket`.
 * It stands behind a comma, or a JOIN LATERAL.
 * @param row the name of the rows
 * @param named SQL of the name of the list, where it is the own one of an RWA
 */
export function stretchesSql(list: ListName, row: string, named = `'${list}'`): string {
  const whole: Level[] = shiftsOf[list].map((shift) => ({ shift, sql: bucketSql(list, shift) }));
  const parts = partLevelsOf(list).map(
    ({ shift, of }) => `
    UNION ALL SELECT ${shift}, ${bucketSql(list, shift)} FROM list_splits s
    WHERE s.is_counted AND s.company_id = ${row}.company_id AND s.list = ${named} AND s.shift = ${of}
      AND s.bucket = ${bucketSql(list, of)} AND rest IS NOT NULL`,
  );
  const values = whole.map(({ shift, sql }) => `(${shift}::smallint, ${sql})`);
  return `(VALUES ${values.join()}${parts.join('')})`;
}
