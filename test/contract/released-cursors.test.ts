import { expect, test } from 'vitest';
import { type CursorScope, createCursors, type PageStart } from '../../src/blockchain/cursor.ts';
import { listCursor, positionOf } from '../../src/contract/list-cursor.ts';
import { feedCursor, placeOfCursor } from '../../src/news/feed/feed-cursor.ts';

// Release 0.2.0 made the texts. During an upgrade its processes also read what new ones make, so both are the same.

test('cursors of blockchain data that 0.2.0 signed are read, and made', () => {
  const cursors = createCursors(new Map([['key', Buffer.alloc(32, 1)]]));
  const scope: CursorScope = {
    operation: 'getWalletHistory',
    dataProvider: 'moralis',
    chainId: '1',
    address: `0x${'ab'.repeat(20)}`,
  };
  const start: PageStart = { order: 'ASC', limit: 25, page: 3, position: 'eyJhbGciOi.J9', search: {} };
  const plain = 'AQAZAAAAA2V5SmhiR2NpT2kuSjl6Ym33fmdaOiKWo3ef1SHJ';
  expect([cursors.open(scope, plain), cursors.seal(scope, start)]).toEqual([start, plain]);
  const narrow = { ...start, search: { category: 'send' } };
  const search = 'AgAZAAAAAwATeyJjYXRlZ29yeSI6InNlbmQifWV5SmhiR2NpT2kuSjkWfNWqrAohedH88CP9Ds9W';
  expect([cursors.open(scope, search), cursors.seal(scope, narrow)]).toEqual([narrow, search]);
});

test('cursors of lists that 0.2.0 made are read, and made', () => {
  const cursor = 'TGB4VEVCOSgxMi43';
  const asked = { companyId: 'acme', path: '/v1/api/nft', query: { claimed: false, limit: 5, cursor } };
  expect(positionOf(asked, /^(\d+)\.(\d+)$/)).toEqual(['12', '7']);
  expect(listCursor(asked, '12.7')).toBe(cursor);
});

test('cursors of the feed that 0.2.0 made are read, and made', () => {
  const cursor = 'NSQFfqSsMDEyMzQ1Njc4OWFiLjQyLjg5YWJjZGVm';
  const place = { epoch: '0123456789ab', position: 42, mark: '89abcdef' };
  expect([placeOfCursor('acme', cursor), feedCursor('acme', place)]).toEqual([place, cursor]);
});
