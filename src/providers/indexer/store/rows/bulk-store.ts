import type { Tx } from '../../../../contract/transaction.ts';
import { copyRows } from '../../../../db/schema/copy-rows.ts';

/** Columns of a bulk insert by name: the SQL type and one text per row; null and an empty text become NULL. */
export type BulkColumns = Readonly<
  Record<string, { readonly type: string; readonly values: readonly (string | null)[] }>
>;

// A statement's rows are in memory on both sides.
const chunkRows = 20_000;

/**
 * Inserts many rows of one network at once: one text per column, which the server splits. It is for rows that may
 * exist, which COPY rejects. Other rows take half the server's time with {@link copyBulk}. No value may contain a
 * line feed, which JSON never does.
 * @param suffix clause after the SELECT, such as ON CONFLICT
 */
export async function insertBulk(
  tx: Tx,
  table: string,
  chainId: string,
  columns: BulkColumns,
  suffix = '',
): Promise<void> {
  const entries = Object.entries(columns);
  const rows = entries[0]?.[1].values.length ?? 0;
  const names = entries.map(([name]) => name).join(', ');
  const arrays = entries.map(([, { type }]) => `string_to_array(?, chr(10), '')::${type}[]`).join(', ');
  const sql = `INSERT INTO ${table} (chain_id, ${names}) SELECT ?::bigint, r.* FROM unnest(${arrays}) AS r ${suffix}`;
  for (let start = 0; start < rows; start += chunkRows) {
    const texts = entries.map(([, { values }]) => values.slice(start, start + chunkRows).join('\n'));
    await tx.raw(sql, [chainId, ...texts]);
  }
}

// As much as the server takes while this process is busy with other blocks, and no more than memory has room for.
const pieceBytes = 4 * 1_024 * 1_024;

/** Inserts rows of one network that are written as lines of {@link lineOf}. None of them may exist. */
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

/** Returns values as COPY takes them in a line, without the line feed. None of them has a character to escape. */
export const lineOf = (values: readonly (string | null)[]): string =>
  values.map((value) => value ?? '\\N').join('\t');

/** Reads lines of {@link lineOf} as columns, without the number of the network. */
export function readLines(names: readonly string[], lines: string): BulkColumns {
  const rows = lines.split('\n').slice(0, -1);
  const values = rows.map((row) => row.split('\t').slice(1).map(unescaped));
  const column = (_: string, place: number) => values.map((row) => row[place] ?? null);
  return Object.fromEntries(names.map((name, at) => [name, { type: 'text', values: column(name, at) }]));
}

const unescaped = (value: string) => (value === '\\N' ? null : value.replace(/^\\\\/, '\\'));

/** Inserts many rows of one network at once, with COPY. None of them may exist. */
export async function copyBulk(tx: Tx, table: string, chainId: string, columns: BulkColumns): Promise<void> {
  const lists = Object.values(columns).map(({ type, values }) => ({
    values,
    write: writers[type] ?? escaped,
  }));
  const rows = [...(lists[0]?.values.keys() ?? [])].map((row) => {
    const own = lists.map(({ values, write }) => {
      const value = values[row] ?? null;
      return value === null ? null : write(value);
    });
    return `${lineOf([chainId, ...own])}\n`;
  });
  await copyLines(tx, table, Object.keys(columns), rows);
}

const special = /[\\\t\n\r]/g;
const escapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(value: string): string {
  return value.replace(special, (character) => escapes[character] ?? '\\\\');
}

const asItIs = (value: string) => value;

// The search for characters to escape took a tenth of the indexer's time; most columns cannot contain any.
const writers: Readonly<Record<string, (value: string) => string>> = {
  bytea: (value) => `\\${value}`,
  bigint: asItIs,
  integer: asItIs,
  smallint: asItIs,
  timestamptz: asItIs,
  // JSON has no other character that needs an escape.
  json: (value) => (value.includes('\\') ? escaped(value) : value),
};

/** Converts `0x` hex to PostgreSQL's hex format of bytea. */
export function bytes(hex: string): string {
  return `\\x${hex.slice(2)}`;
}

/** Converts bytes to `0x` hex. */
export function hex(value: Buffer): string {
  return `0x${value.toString('hex')}`;
}
