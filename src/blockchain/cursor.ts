import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SortOrder } from '../providers/provider.ts';

/** The list that a cursor belongs to. It is not written in the cursor, only signed with it. */
export type CursorScope = {
  readonly operation: 'getWalletHistory' | 'listWalletNfts';
  /** A position means nothing to another provider, should the network be given one. */
  readonly dataProvider: string;
  readonly chainId: string;
  /** In lower case. */
  readonly address: string;
};

/** Where a page of the list begins. */
export type PageStart = {
  readonly order: SortOrder;
  readonly limit: number;
  /** Counted from 0. */
  readonly page: number;
  /** The provider's own cursor, in ASCII. */
  readonly position: string;
};

export type Cursors = {
  /** The cursor of a page, in base64url. */
  seal(scope: CursorScope, start: PageStart): string;
  /** What was sealed for this very list, or undefined for every other text. */
  open(scope: CursorScope, cursor: string): PageStart | undefined;
};

const format = 1;
// Format, order and limit are one byte each, the page has four.
const headBytes = 7;
// HMAC-SHA256, cut to 128 bits as RFC 2104 allows: a cursor travels in URLs.
const tagBytes = 16;

/**
 * Makes cursors that only holders of a key can make.
 * @param keys 32-byte keys by name; the first signs, all verify
 */
export function createCursors(keys: ReadonlyMap<string, Buffer>): Cursors {
  const ring = [...keys.values()];
  const [active] = ring;
  if (active === undefined) throw new Error('Cursors need at least one key.');
  return {
    seal(scope, start) {
      const content = encode(start);
      return Buffer.concat([content, tagOf(active, scope, content)]).toString('base64url');
    },
    open(scope, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      // The decoder overlooks strange characters and loose bits at the end.
      if (bytes.length < headBytes + tagBytes || bytes.toString('base64url') !== cursor) return undefined;
      const content = bytes.subarray(0, -tagBytes);
      const tag = bytes.subarray(-tagBytes);
      const isOurs = ring.some((key) => timingSafeEqual(tagOf(key, scope, content), tag));
      return isOurs ? decode(content) : undefined;
    },
  };
}

function tagOf(key: Buffer, scope: CursorScope, content: Buffer): Buffer {
  const { operation, dataProvider, chainId, address } = scope;
  return (
    createHmac('sha256', key)
      // JSON text holds no NUL, so nothing of the scope can pass for content.
      .update(`${JSON.stringify(['tallystick cursor', operation, dataProvider, chainId, address])}\0`)
      .update(content)
      .digest()
      .subarray(0, tagBytes)
  );
}

function encode({ order, limit, page, position }: PageStart): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(format, 0);
  head.writeUInt8(order === 'ASC' ? 0 : 1, 1);
  head.writeUInt8(limit, 2);
  head.writeUInt32BE(page, 3);
  return Buffer.concat([head, Buffer.from(position, 'latin1')]);
}

/** @returns undefined for a format of another release */
function decode(content: Buffer): PageStart | undefined {
  if (content.readUInt8(0) !== format) return undefined;
  return {
    order: content.readUInt8(1) === 0 ? 'ASC' : 'DESC',
    limit: content.readUInt8(2),
    page: content.readUInt32BE(3),
    position: content.toString('latin1', headBytes),
  };
}
