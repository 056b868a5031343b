import type { Tx } from '../../../../contract/transaction.ts';
import { copyRows } from '../../../../db/schema/copy-rows.ts';
import { binaryHeader, binaryTrailer } from './binary-rows.ts';

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

/** Lines that COPY takes, in pieces. */
export type Lines = readonly Buffer[];

// As much as the server takes while this process is busy with other blocks, and no more than memory has room for.
const pieceBytes = 4 * 1_024 * 1_024;

/** Inserts lines of {@link copyLines}. None of the rows may exist. */
export async function copyWritten(
  tx: Tx,
  table: string,
  columns: readonly string[],
  lines: Lines,
): Promise<void> {
  if (lines.length > 0) await copyRows(tx, `${table} (chain_id, ${columns.join(', ')})`, inPieces(lines));
}

/** Inserts rows of {@link BinaryRows}. None of them may exist. */
export async function copyBinary(
  tx: Tx,
  table: string,
  columns: readonly string[],
  rows: readonly Buffer[],
): Promise<void> {
  const target = `${table} (chain_id, ${columns.join(', ')})`;
  await copyRows(tx, target, inPieces([binaryHeader, ...rows, binaryTrailer]), 'binary');
}

/** For each piece the server waits until this process has read its last answer, so there are few pieces. */
function* inPieces(lines: Lines): Generator<Buffer> {
  let piece: Buffer[] = [];
  let size = 0;
  for (const some of lines) {
    if (size > 0 && size + some.length > pieceBytes) {
      yield Buffer.concat(piece);
      piece = [];
      size = 0;
    }
    piece.push(some);
    size += some.length;
  }
  if (size > 0) yield Buffer.concat(piece);
}

/** Collects texts of whole lines as bytes, so many at once that no text is too long. */
function createLines() {
  const done: Buffer[] = [];
  let text = '';
  let count = 0;
  const close = () => {
    if (text !== '') done.push(Buffer.from(text));
    text = '';
    count = 0;
  };
  return {
    add(line: string) {
      text += line;
      count += 1;
      if (count === linesInChunk) close();
    },
    all(): Lines {
      close();
      return done;
    },
  };
}

/** Rows of one network as the lines that COPY takes. @param types of their columns, after the number of the network */
export function copyLines(chainId: string, types: readonly string[]) {
  const write = types.map((type) => writers[type] ?? escaped);
  const lines = createLines();
  return {
    add(...values: readonly (string | null)[]) {
      let line = chainId;
      for (const [place, value] of values.entries()) {
        line += value === null ? '\t\\N' : `\t${write[place]?.(value) ?? ''}`;
      }
      lines.add(`${line}\n`);
    },
    all: lines.all,
  };
}

/** Inserts many rows of one network at once, with COPY. None of them may exist. */
export async function copyBulk(tx: Tx, table: string, chainId: string, columns: BulkColumns): Promise<void> {
  const lists = Object.values(columns);
  const lines = copyLines(
    chainId,
    lists.map(({ type }) => type),
  );
  for (const row of lists[0]?.values.keys() ?? [])
    lines.add(...lists.map(({ values }) => values[row] ?? null));
  await copyWritten(tx, table, Object.keys(columns), lines.all());
}

const linesInChunk = 1_000;

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
