import { createHash } from 'node:crypto';
import { inputInvalid } from '../base/errors.ts';
import { type CursorSum, cursorInvalid, readCursor, writeCursor } from './cursor.ts';

/** A value of a query, after coercion. */
type QueryValue = string | number | boolean | undefined;
type Query = Readonly<Record<string, QueryValue>>;

/** A list of a company, as a caller asks for it. */
export type AskedList = {
  readonly companyId: string;
  /** The full path, such as `/v1/api/nft`. */
  readonly path: string;
  /** With `limit`, `offset` and `cursor`; whatever else is in it narrows the list. */
  readonly query: Query;
};

// The sum notices an accident only. A caller who makes a cursor on purpose gets rows of the own company.
const sumBytes = 8;

function sumOf({ companyId, path, query }: AskedList): CursorSum {
  const narrowing = Object.entries(query)
    .filter(([name, value]) => !['limit', 'offset', 'cursor'].includes(name) && value !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const of = (position: Buffer): [Buffer] => {
    const content = ['tallystick list', companyId, path, narrowing, position.toString('latin1')];
    return [createHash('sha256').update(JSON.stringify(content)).digest().subarray(0, sumBytes)];
  };
  return { bytes: sumBytes, place: 'before', of };
}

/**
 * The position that the query's cursor stands for, in the groups of its form; undefined without a cursor. Cursors of our
 * own lists are not signed: their rows are found by company, so there is nothing to forge.
 * @param form of the list's positions
 * @param name of the parameter, for the problem
 * @throws problem `cursor_invalid` when it belongs to another list or narrowing, or was altered; `input_invalid` when
 *   the query has an offset, too
 */
export function positionOf(
  asked: AskedList,
  form: RegExp,
  name: 'cursor' | 'after' = 'cursor',
): readonly string[] | undefined {
  const { cursor, offset } = asked.query;
  if (cursor === undefined) return undefined;
  if (offset !== undefined && offset !== 0) throw offsetBesideCursor();
  const position = readCursor(sumOf(asked), String(cursor))?.toString('latin1') ?? '';
  const [, ...groups] = form.exec(position) ?? [];
  if (groups.length === 0) throw cursorInvalid(name);
  return groups;
}

function offsetBesideCursor() {
  const message = 'offset must be 0 or left out beside a cursor, which says where the page begins';
  return inputInvalid([{ in: 'query', name: 'offset', message }]);
}

/** The form of a place by time: microseconds since 1970, in years that the database has, and an id. */
export const timedForm = /^(-?\d{1,16})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** A page of a list, and the cursor of the next page. */
export type CursorPage<Row> = { readonly rows: Row[]; readonly cursor: string | undefined };

/**
 * Cuts a page from rows of which one more was asked for, to see whether there is another page.
 * @param placeOf gives a row's position, in ASCII
 */
export function cutPage<Row>(
  asked: AskedList,
  found: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
): CursorPage<Row> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length <= limit || last === undefined) return { rows, cursor: undefined };
  return { rows, cursor: listCursor(asked, placeOf(last)) };
}

/** The cursor of a position in a list, in ASCII. */
export function listCursor(asked: AskedList, position: string): string {
  return writeCursor(sumOf(asked), Buffer.from(position, 'latin1'));
}

/** The header that leads to the next page (RFC 8288), where there is one; the query without its offset. */
export function nextLink(
  { path, query }: Pick<AskedList, 'path' | 'query'>,
  cursor: string | undefined,
): { readonly Link?: string } {
  if (cursor === undefined) return {};
  const parameters = Object.entries({ ...query, offset: undefined, cursor }).filter(
    ([, value]) => value !== undefined,
  );
  const text = new URLSearchParams(
    parameters.map(([name, value]): [string, string] => [name, String(value)]),
  );
  return { Link: `<${path}?${text}>; rel="next"` };
}

/** The headers of a page whose body is an array. */
export function arrayPageHeaders(
  asked: AskedList,
  cursor: string | undefined,
): Readonly<Record<string, string>> {
  return { ...nextLink(asked, cursor), ...(cursor !== undefined && { 'X-Next-Cursor': cursor }) };
}
