import { constants, open } from 'node:fs/promises';
import path from 'node:path';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { errorCode, errorText } from '../../base/thrown.ts';
import { parseRwaInput } from '../../rwa/assets/rwa-input.ts';
import { UsageError } from '../shared/failure.ts';

/** The position of a row: the line of a CSV on which it begins, from 1, or the index in a JSON array, from 0. */
export type Place = { readonly line: number } | { readonly index: number };
/** `fault` is an error of the row as a whole; `raw` is undefined then. */
export type ImportRow = { readonly place: Place; readonly raw: unknown; readonly fault?: string };

// Reading takes some five times the size of the file in memory.
const maxMegabytes = 100;

/**
 * The rows of a JSON array or of a CSV with a header.
 * @throws UsageError when the file as a whole cannot be used
 */
export async function readRows(file: string): Promise<ImportRow[]> {
  const read = readers[path.extname(file).toLowerCase()];
  if (read === undefined) throw new UsageError(`${file}: the name must end in .json or .csv.`);
  try {
    const rows = read(await readText(file));
    if (rows.length === 0) throw new Error('it has no RWAs');
    return rows;
  } catch (error) {
    throw new UsageError(`${file}: ${errorText(error)}.`, { cause: error });
  }
}

const readers: Readonly<Record<string, (text: string) => ImportRow[]>> = {
  '.json': readJson,
  '.csv': readCsv,
};

async function readText(file: string): Promise<string> {
  // Without O_NONBLOCK the open of a pipe waits for somebody who writes to it.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(explainOpen);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error('it is not a regular file');
    if (found.size > maxMegabytes * 1024 * 1024) throw new Error(`it is over ${maxMegabytes} MB: split it`);
    const text = decode(await handle.readFile());
    if (text.trim() === '') throw new Error('it is empty');
    return text;
  } finally {
    await handle.close();
  }
}

function explainOpen(error: unknown): never {
  const code = errorCode(error);
  if (code === 'ENOENT') throw new Error('there is no such file', { cause: error });
  if (code === 'EACCES') throw new Error('you may not read it', { cause: error });
  throw error;
}

/** Decodes UTF-8 with or without a byte order mark. @throws Error for any other encoding */
function decode(bytes: Buffer): string {
  const remedy = 'save it as UTF-8 ("CSV UTF-8" in a spreadsheet)';
  if (/^(fffe|feff)/.test(bytes.toString('hex', 0, 2))) throw new Error(`it is UTF-16: ${remedy}`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const before = bytes.toString('utf8').split('\ufffd', 1)[0] ?? '';
    throw new Error(`line ${before.split('\n').length} is not UTF-8: ${remedy}`);
  }
}

function readJson(text: string): ImportRow[] {
  const content: unknown = JSON.parse(text);
  if (!Array.isArray(content)) throw new Error('it must contain one JSON array of RWAs');
  return content.map((raw: unknown, index) => ({ place: { index }, raw }));
}

function readCsv(text: string): ImportRow[] {
  const [header, ...lines] = readTable(text);
  if (header === undefined) return [];
  assertHeader(header.cells);
  return lines.map(({ line, cells }) =>
    cells.length === header.cells.length
      ? { place: { line }, raw: toRecord(header.cells, cells) }
      : {
          place: { line },
          raw: undefined,
          fault: `has ${cells.length} cells where the header has ${header.cells.length}`,
        },
  );
}

function assertHeader(names: readonly string[]): void {
  const fieldsAtFault = (raw: unknown) => {
    const parsed = parseRwaInput(raw);
    return parsed.ok ? [] : parsed.errors.map(({ field }) => field);
  };
  // The parser of rows knows the fields. Fields that it misses in an empty row are required, and fields that it
  // rejects even without a value are unknown.
  const required = fieldsAtFault({});
  const refused = fieldsAtFault(toRecord(names, []));
  const list = (found: readonly string[]) => [...new Set(found)].join(', ');
  const missing = required.filter((name) => !names.includes(name));
  const unknown = names.filter((name) => refused.includes(name) && !required.includes(name));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (names.includes('')) throw new Error('its header has a cell without a name');
  if (twice.length > 0) throw new Error(`its header names a column twice: ${list(twice)}`);
  if (missing.length > 0) throw new Error(`its header, the first line, lacks: ${list(missing)}`);
  if (unknown.length > 0) throw new Error(`its header has what is no field of an RWA: ${list(unknown)}`);
}

function toRecord(names: readonly string[], cells: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name, index) => [name, flagOf(name, cells[index])]));
}

// Spreadsheets write booleans as TRUE and FALSE.
const flagOf = (name: string, cell: string | undefined) =>
  name.startsWith('is') && /^(true|false)$/i.test(cell ?? '') ? cell?.toLowerCase() : cell;

/** One record of a table; `line` is the line of the text on which it begins, from 1. */
type TableLine = { readonly line: number; readonly cells: readonly string[] };

/**
 * Reads the records of a CSV including the header, without empty records. The first line determines the separator: a
 * comma, or a semicolon or tab, which spreadsheets write in some countries.
 * @throws Error with the number of the line that cannot be read
 */
function readTable(text: string): TableLine[] {
  const table: TableLine[] = [];
  try {
    parse(text, {
      delimiter: delimiterOf(text),
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
      on_record(cells: string[], { lines }) {
        table.push({ line: beginning(cells, lines), cells });
        return null;
      },
    });
    return table;
  } catch (error) {
    if (error instanceof CsvError) throw new Error(explain(error), { cause: error });
    throw error;
  }
}

function delimiterOf(text: string): string {
  const [first = ''] = text.trimStart().split('\n', 1);
  return [',', ';', '\t'].find((delimiter) => first.includes(delimiter)) ?? ',';
}

// The parser reports the line on which a record ends; only quoted cells contain line breaks.
function beginning(cells: readonly string[], end: number): number {
  const breaks = cells.map((cell) => cell.split(/\r\n|\r|\n/).length - 1);
  return breaks.reduce((line, count) => line - count, end);
}

function explain({ code, message }: CsvError): string {
  const line = /at line (\d+)|on line (\d+)/.exec(message)?.slice(1).find(Boolean);
  const where = line === undefined ? '' : `line ${line}: `;
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return `a quote is opened and never closed (the file ends on line ${line})`;
  if (/QUOTE/.test(code)) return `${where}a quote stands inside a cell; write it twice, in a quoted cell`;
  return `${where}${message}`;
}
