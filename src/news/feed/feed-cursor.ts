import { createHash, timingSafeEqual } from 'node:crypto';
import { problem } from '../../base/errors.ts';
import type { FeedPlace } from './feed-store.ts';

/*
 * Cursors of the feed. They are not signed: news are found by company, so there is nothing to forge. The sum notices one of
 * another company, and one that was altered by accident.
 */

const sumBytes = 6;
const form = /^([0-9a-f]{12})\.(\d{1,16})\.([0-9a-f]{8})?$/;

const sumOf = (companyId: string, text: string) =>
  createHash('sha256')
    .update(JSON.stringify(['tallystick news', companyId, text]))
    .digest()
    .subarray(0, sumBytes);

export function feedCursor(companyId: string, { epoch, position, mark }: FeedPlace): string {
  const text = `${epoch}.${position}.${mark}`;
  return Buffer.concat([sumOf(companyId, text), Buffer.from(text, 'latin1')]).toString('base64url');
}

/** Returns the place of a cursor. @throws ProblemError `cursor_invalid` */
export function placeOfCursor(companyId: string, cursor: string): FeedPlace {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString('latin1', sumBytes);
  const [, epoch, position, mark = ''] = form.exec(text) ?? [];
  const isWhole = bytes.toString('base64url') === cursor;
  if (
    !isWhole ||
    epoch === undefined ||
    !timingSafeEqual(sumOf(companyId, text), bytes.subarray(0, sumBytes))
  ) {
    const { message } = problem('cursor_invalid');
    throw problem('cursor_invalid', {}, { errors: [{ in: 'query', name: 'after', message }] });
  }
  return { epoch, position: Number(position), mark };
}
