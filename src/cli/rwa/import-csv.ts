import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';

/** One record of a table; `line` is the line of the text on which it begins, from 1. */
export type TableLine = { readonly line: number; readonly cells: readonly string[] };

/**
 * The records of a CSV including the header, without empty ones. The first line determines the separator: a comma,
 * or a semicolon or tab, which spreadsheets write in some countries.
 * @throws Error with the number of the line that cannot be read
 */
export function readTable(text: string): TableLine[] {
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
