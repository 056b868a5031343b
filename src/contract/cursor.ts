import { timingSafeEqual } from 'node:crypto';
import { type ProblemError, problem } from '../base/errors.ts';

/** How a kind of cursor shows that its content is as it was written. */
export type CursorSum = {
  readonly bytes: number;
  /** Where the sum is: cursors that were handed out keep their form. */
  readonly place: 'before' | 'behind';
  /** Returns each sum that is right for a content. A new cursor gets the first. */
  readonly of: (content: Buffer) => readonly [Buffer, ...Buffer[]];
};

/** Writes a content with its sum, in base64url. */
export function writeCursor({ place, of }: CursorSum, content: Buffer): string {
  const [sum] = of(content);
  return Buffer.concat(place === 'before' ? [sum, content] : [content, sum]).toString('base64url');
}

/** Reads the content of a cursor. @returns undefined for a text that was not written with one of the sums */
export function readCursor({ bytes, place, of }: CursorSum, cursor: string): Buffer | undefined {
  const all = Buffer.from(cursor, 'base64url');
  // The decoder ignores invalid characters and unused bits at the end.
  if (all.length < bytes || all.toString('base64url') !== cursor) return undefined;
  const border = place === 'before' ? bytes : all.length - bytes;
  const [start, end] = [all.subarray(0, border), all.subarray(border)];
  const [sum, content] = place === 'before' ? [start, end] : [end, start];
  return of(content).some((right) => timingSafeEqual(right, sum)) ? content : undefined;
}

/** Returns the problem of a cursor that cannot be read, or that belongs to another list. */
export function cursorInvalid(name: 'cursor' | 'after'): ProblemError {
  const { message } = problem('cursor_invalid');
  return problem('cursor_invalid', {}, { errors: [{ in: 'query', name, message }] });
}
