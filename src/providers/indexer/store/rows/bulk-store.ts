import type { Tx } from '../../../../contract/transaction.ts';
import { copyRows } from '../../../../db/schema/copy-rows.ts';

/** The SQL types of the columns. A name has the same type in every table of the index. */
const types = {
  acquired_block: 'bigint',
  acquired_log: 'integer',
  amount: 'numeric',
  block_hash: 'bytea',
  block_number: 'bigint',
  block_time: 'timestamptz',
  changed_block: 'bigint',
  changed_log: 'integer',
  contract: 'bytea',
  delta: 'numeric',
  facet: 'bytea',
  fees: 'numeric',
  gained: 'boolean',
  granted: 'boolean',
  kind: 'smallint',
  log_index: 'integer',
  minted_block: 'bigint',
  minter: 'bytea',
  moved: 'numeric',
  part: 'integer',
  party: 'bytea',
  place: 'integer',
  reason: 'text',
  rewards: 'numeric',
  spender: 'bytea',
  standard: 'smallint',
  start_amount: 'numeric',
  token_id: 'numeric',
  topic: 'bytea',
  transfers: 'json',
  tx_index: 'integer',
  unknown_fees: 'bigint',
  validator_index: 'numeric',
  wallet: 'bytea',
  withdrawal_index: 'numeric',
  withdrawals: 'numeric',
} as const;

export type Column = keyof typeof types;

/**
 * A row of a table of one network, as the server reads its values. Null and an empty text become NULL. No value may
 * contain a line feed, which JSON never does.
 */
export type Row = { readonly [name in Column]?: string | number | bigint | boolean | null };

/** Returns some columns of rows as a table of a statement: its SQL, and one text per column, which the server splits. */
export function rowsTable(name: string, columns: readonly Column[], rows: readonly Row[]) {
  const lists = columns.map(
    (column) => `string_to_array(:${name}_${column}, E'\\n', '')::${types[column]}[]`,
  );
  return {
    sql: `unnest(${lists.join(', ')}) AS ${name} (${columns.join(', ')})`,
    bindings: Object.fromEntries(
      columns.map((column) => [`${name}_${column}`, rows.map((row) => row[column] ?? '').join('\n')]),
    ),
  };
}

// A statement's rows are in memory on both sides.
const chunkRows = 20_000;

/**
 * Inserts many rows of one network at once. All have the columns of the first row.
 * @param suffix clause after the SELECT, such as ON CONFLICT
 */
export async function insertBulk(
  tx: Tx,
  table: string,
  chainId: string,
  rows: readonly Row[],
  suffix = '',
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}) as Column[]; // the type of a row has no others
  for (let start = 0; start < rows.length; start += chunkRows) {
    const { sql, bindings } = rowsTable('r', columns, rows.slice(start, start + chunkRows));
    await tx.raw(
      `INSERT INTO ${table} (chain_id, ${columns.join(', ')}) SELECT :chainId::bigint, r.* FROM ${sql} ${suffix}`,
      { chainId, ...bindings },
    );
  }
}

// As much as the server takes while this process is busy with other blocks, and no more than memory has room for.
const pieceBytes = 4 * 1_024 * 1_024;

/**
 * Inserts rows of one network that are written as lines of {@link lineOf}, in half the server's time. No such row may
 * exist.
 */
export async function copyLines(
  tx: Tx,
  table: string,
  columns: readonly string[],
  lines: readonly string[],
): Promise<void> {
  const some = lines.filter((text) => text !== '');
  if (some.length > 0) await copyRows(tx, `${table} (chain_id, ${columns.join(', ')})`, inPieces(some));
}

/** For each piece the server waits until this process has read its last answer, so there are few pieces. */
function* inPieces(lines: readonly string[]): Generator<Buffer> {
  let piece = '';
  for (const some of lines) {
    piece += some;
    if (piece.length < pieceBytes) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  if (piece !== '') yield Buffer.from(piece);
}

/** Returns values as COPY takes them in a line, without the line feed. No value has a character to escape. */
export const lineOf = (values: readonly (string | null)[]): string =>
  values.map((value) => value ?? '\\N').join('\t');

/** Reads lines of {@link lineOf} as rows, without the number of the network. */
export function readLines<Name extends string>(
  names: readonly Name[],
  lines: string,
): Readonly<Record<Name, string | null>>[] {
  const rows = lines.split('\n').slice(0, -1);
  return rows.map((row) => {
    const [, ...values] = row.split('\t');
    // Each name has a value.
    return Object.fromEntries(names.map((name, at) => [name, unescaped(values[at] ?? '\\N')])) as Record<
      Name,
      string | null
    >;
  });
}

const unescaped = (value: string) => (value === '\\N' ? null : value.replace(/^\\\\/, '\\'));

/** Converts `0x` hex to PostgreSQL's hex format of bytea. */
export function bytes(hex: string): string {
  return `\\x${hex.slice(2)}`;
}

/** Converts bytes to `0x` hex. */
export function hex(value: Buffer): string {
  return `0x${value.toString('hex')}`;
}

/** Converts the seconds of a block to a time as the database reads it. */
export function timeOf({ timestamp }: { readonly timestamp: bigint }): string {
  return new Date(Number(timestamp) * 1_000).toISOString();
}
