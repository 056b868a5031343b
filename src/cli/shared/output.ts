import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Table from 'cli-table3';
import { createProgress, type Progress, type Watched } from './progress.ts';

/**
 * The output of a command. Data go to standard output: tables and fields for people, or one JSON value for
 * programs. Everything else goes to standard error: sentences, or with JSON one object a line, `{"note"}` or
 * `{"error"}`.
 */
export type Output = {
  readonly json: boolean;
  /** Prints a list of records: to people the fields of `columns` under their headings, to programs every field. */
  rows(records: readonly Row[], columns: Columns): void;
  /** Prints one record, field by field. */
  record(record: Row): void;
  /** Writes text to standard output as it is, piece by piece. */
  stream(pieces: AsyncIterable<string>): Promise<void>;
  /** Prints a sentence in addition to the data. */
  say(text: string): void;
  fail(message: string, exitCode: number): void;
  /**
   * A progress bar on a terminal.
   * @param unit the name of the counted things
   */
  progress(what: string, unit?: string): Progress;
};

type Row = Readonly<Record<string, unknown>>;
type Columns = Readonly<Record<string, string>>;

type Streams = { readonly out: NodeJS.WritableStream; readonly err: Watched };

/** @param json true for programs */
export function createOutput(json: boolean, { out, err }: Streams): Output {
  const stream = async (pieces: AsyncIterable<string>) =>
    pipeline(Readable.from(pieces), out, { end: false });
  const speaker = json ? forPrograms({ out, err }) : forPeople({ out, err });
  return { json, stream, ...speaker };
}

type Speaker = Omit<Output, 'json' | 'stream'>;

function forPrograms({ out, err }: Streams): Speaker {
  const print = (value: unknown) => out.write(`${JSON.stringify(value, null, 2)}\n`);
  return {
    rows: print,
    record: print,
    say: (note) => err.write(`${JSON.stringify({ note })}\n`),
    fail: (message, exitCode) => err.write(`${JSON.stringify({ error: { message, exitCode } })}\n`),
    progress: () => ({ update() {}, stop() {} }),
  };
}

function forPeople({ out, err }: Streams): Speaker {
  return {
    rows(records, columns) {
      if (records.length === 0) out.write('(none)\n');
      else out.write(`${table(records, columns)}\n`);
    },
    record(record) {
      const width = Math.max(...Object.keys(record).map(({ length }) => length));
      const lines = Object.entries(record).map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}\n`);
      out.write(lines.join(''));
    },
    say: (text) => err.write(`${text}\n`),
    fail: (message) => err.write(`${message}\n`),
    progress: (what, unit) => createProgress(err, what, unit),
  };
}

// Columns without borders are easier to read and to copy.
const borders = ['top', 'bottom', 'mid', 'left', 'right'].flatMap((side) =>
  ['', '-mid', '-left', '-right'].map((part) => [side + part, ''] as const),
);

function table(records: readonly Row[], columns: Columns): string {
  const made = new Table({
    head: Object.values(columns),
    chars: { ...Object.fromEntries(borders), middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const record of records) made.push(Object.keys(columns).map((name) => shown(record[name])));
  return made.toString().replaceAll(/ +$/gm, '');
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(shown).join(', ');
  return visible(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

// Text of others must neither control the terminal nor break a line of a table. So control characters and characters
// that change the direction of text are escaped.
function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

type Page = {
  readonly limit: number;
  readonly columns: Columns;
  /** Words after `--after ID`, such as other options. */
  readonly how?: string;
};

/**
 * Prints a page of a list, and says how to go on where it is not the last page.
 * @param found one record more than the page has, where there is one; the option --after takes the id of the last
 */
export function showPage(
  output: Output,
  found: readonly (Row & { readonly id: string })[],
  { limit, columns, how = '' }: Page,
): void {
  const page = found.slice(0, limit);
  output.rows(page, columns);
  if (found.length > limit) output.say(`There are more: add --after ${page.at(-1)?.id} ${how}`.trimEnd());
}

/**
 * Prints what a comparison came to: to programs one record with the rows in it, to people the rows before the record.
 * @param found the rows, under the name that they have in the record
 */
export function showFound(output: Output, counts: Row, found: Record<string, Row[]>, columns: Columns): void {
  const rows = Object.values(found).flat();
  if (rows.length > 0 && !output.json) output.rows(rows, columns);
  output.record(output.json ? { ...counts, ...found } : counts);
}
