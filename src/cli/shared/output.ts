import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Table from 'cli-table3';
import { createProgress, type Progress, type Watched } from './progress.ts';

/**
 * How a command speaks. Data go to standard output: tables and fields for people, or one JSON value for
 * programs. All else goes to standard error: sentences, or with JSON one object a line, `{"note"}` or
 * `{"error"}`.
 */
export type Output = {
  readonly json: boolean;
  /** A list of records; `columns` name what people see, programs get every field. */
  rows(records: readonly Row[], columns: Columns): void;
  /** One record, field by field. */
  record(record: Row): void;
  /** Text that is made piece by piece and stands for itself. */
  stream(pieces: AsyncIterable<string>, signal?: AbortSignal): Promise<void>;
  /** A sentence beside the data. */
  say(text: string): void;
  /** Why a command failed. */
  fail(message: string, exitCode: number): void;
  /** A bar for people who watch; with the name of what is counted, it has the rate too. */
  progress(what: string, unit?: string): Progress;
};

type Row = Readonly<Record<string, unknown>>;
type Columns = Readonly<Record<string, string>>;

type Streams = { readonly out: NodeJS.WritableStream; readonly err: Watched };

/** @param json true for programs */
export function createOutput(json: boolean, { out, err }: Streams): Output {
  const stream = async (pieces: AsyncIterable<string>, signal?: AbortSignal) =>
    pipeline(Readable.from(pieces), out, { end: false, ...(signal === undefined ? {} : { signal }) });
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

// Without borders the columns of a list are easier to read, cut and paste.
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

// What others wrote must neither steer the terminal nor break a line of a table: control characters, and
// those that turn the direction of text.
function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
