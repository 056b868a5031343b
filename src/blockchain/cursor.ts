import { createHmac } from 'node:crypto';
import { type CursorSum, readCursor, writeCursor } from '../contract/cursor.ts';
import type { SortOrder } from '../providers/shared/provider.ts';

/** The list that a cursor belongs to. The cursor does not contain it, but its signature covers it. */
export type CursorScope = {
  readonly operation: ('getWalletHistory' | 'listWalletNfts') | ('listWalletTokens' | 'listWalletApprovals');
  /** Positions are specific to a provider, so a cursor must not outlive a change of the network's provider. */
  readonly dataProvider: string;
  readonly chainId: string;
  /** In lower case. */
  readonly address: string;
};

/** The start of a page of the list. */
export type PageStart = {
  readonly order: SortOrder;
  readonly limit: number;
  /** Counted from 0. */
  readonly page: number;
  /** The provider's own cursor, in ASCII. */
  readonly position: string;
  /** What narrows the list, in texts; empty when nothing does. */
  readonly search: Readonly<Record<string, string>>;
};

export type Cursors = {
  /** Encodes and signs the cursor of a page, in base64url. */
  seal(scope: CursorScope, start: PageStart): string;
  /** Verifies and decodes a cursor. @returns undefined for any text that is not a cursor of this list */
  open(scope: CursorScope, cursor: string): PageStart | undefined;
};

// The first has no search; cursors without one stay as earlier releases make and read them.
const plainFormat = 1;
const searchFormat = 2;
// One byte each for format, order and limit; four bytes for the page.
const headBytes = 7;
// Before a search: its length.
const lengthBytes = 2;
// HMAC-SHA256, cut to 128 bits as RFC 2104 allows: a cursor travels in URLs.
const tagBytes = 16;

/**
 * Creates cursors that are signed, so that nobody without a key can forge them.
 * @param keys 32-byte keys by name; the first signs, all verify
 */
export function createCursors(keys: ReadonlyMap<string, Buffer>): Cursors {
  const [signingKey, ...otherKeys] = keys.values();
  if (signingKey === undefined) throw new Error('Cursors need at least one key.');
  const sumOf = (scope: CursorScope): CursorSum => ({
    bytes: tagBytes,
    place: 'behind',
    of: (content) => [
      tagOf(signingKey, scope, content),
      ...otherKeys.map((key) => tagOf(key, scope, content)),
    ],
  });
  return {
    seal: (scope, start) => writeCursor(sumOf(scope), encode(start)),
    open(scope, cursor) {
      const content = readCursor(sumOf(scope), cursor);
      return content && decode(content);
    },
  };
}

function tagOf(key: Buffer, scope: CursorScope, content: Buffer): Buffer {
  const { operation, dataProvider, chainId, address } = scope;
  return (
    createHmac('sha256', key)
      // JSON text contains no NUL, so the scope cannot run over into the content.
      .update(`${JSON.stringify(['tallystick cursor', operation, dataProvider, chainId, address])}\0`)
      .update(content)
      .digest()
      .subarray(0, tagBytes)
  );
}

function encode({ order, limit, page, position, search }: PageStart): Buffer {
  const isPlain = Object.keys(search).length === 0;
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(isPlain ? plainFormat : searchFormat, 0);
  head.writeUInt8(order === 'ASC' ? 0 : 1, 1);
  head.writeUInt8(limit, 2);
  head.writeUInt32BE(page, 3);
  const place = Buffer.from(position, 'latin1');
  if (isPlain) return Buffer.concat([head, place]);
  const text = Buffer.from(JSON.stringify(search));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(text.length);
  return Buffer.concat([head, length, text, place]);
}

/** @returns undefined for the format of another release */
function decode(content: Buffer): PageStart | undefined {
  const found = content.readUInt8(0);
  const head = {
    order: content.readUInt8(1) === 0 ? ('ASC' as const) : ('DESC' as const),
    limit: content.readUInt8(2),
    page: content.readUInt32BE(3),
  };
  if (found === plainFormat) return { ...head, search: {}, position: content.toString('latin1', headBytes) };
  if (found !== searchFormat) return undefined;
  const from = headBytes + lengthBytes;
  const to = from + content.readUInt16BE(headBytes);
  // The signature says that encode() wrote it.
  const search = JSON.parse(content.toString('utf8', from, to)) as PageStart['search'];
  return { ...head, search, position: content.toString('latin1', to) };
}
