import { createHash } from 'node:crypto';
import { type CursorSum, cursorInvalid, readCursor, writeCursor } from '../../contract/cursor.ts';
import type { FeedPlace } from './feed-store.ts';

/*
 * Cursors of the feed. They are not signed: news are found by company, so there is nothing to forge. The sum notices one of
 * another company, and one that was altered by accident.
 */

const sumBytes = 6;
const form = /^([0-9a-f]{12})\.(\d{1,16})\.([0-9a-f]{8})?$/;

const sumOf = (companyId: string): CursorSum => ({
  bytes: sumBytes,
  place: 'before',
  of: (text) => {
    const content = JSON.stringify(['tallystick news', companyId, text.toString('latin1')]);
    return [createHash('sha256').update(content).digest().subarray(0, sumBytes)];
  },
});

export function feedCursor(companyId: string, { epoch, position, mark }: FeedPlace): string {
  return writeCursor(sumOf(companyId), Buffer.from(`${epoch}.${position}.${mark}`, 'latin1'));
}

/** Returns the place of a cursor. @throws ProblemError `cursor_invalid` */
export function placeOfCursor(companyId: string, cursor: string): FeedPlace {
  const text = readCursor(sumOf(companyId), cursor)?.toString('latin1') ?? '';
  const [, epoch, position, mark = ''] = form.exec(text) ?? [];
  if (epoch === undefined) throw cursorInvalid('after');
  return { epoch, position: Number(position), mark };
}
