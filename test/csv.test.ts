import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { csvLine } from '../src/base/csv.ts';

const dangerous = [
  '=',
  '+',
  '-',
  '@',
  '\t',
  '\r',
  '\n',
  '＝',
  '＋',
  '－',
  '＠',
  ' =',
  '\u00a0\u3000+',
  '\ufeff@',
];

test.for(dangerous.map((sign) => [JSON.stringify(sign), sign]))(
  'a cell that begins with %s is a text with an apostrophe for a spreadsheet',
  ([, sign]) => {
    const text = `${sign}HYPERLINK("http://x","a")`;
    expect(parse(csvLine(['1', text, 'b']))).toEqual([['1', `'${text}`, 'b']]);
  },
);

test('any other cell is what it was, with signs of every kind inside', () => {
  const cells = ['', 'a=b', '1-2', 'a,b', 'say "a"', 'two\r\nlines', ' x', '<＝>', ' a-'];
  const line = csvLine(cells);
  expect(line.endsWith('\r\n')).toBe(true);
  expect(parse(line)).toEqual([cells]);
});
