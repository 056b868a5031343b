import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { insertIndexHead } from '../support/index-head.ts';
import { walk } from '../support/walk.ts';

const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex');
const wallet = `0x${'a1'.repeat(20)}`;
const sender = `0x${'b2'.repeat(20)}`;
const token = `0x${'70'.repeat(20)}`;
const path = `/blockchain/v1/api/wallet/history?chainId=31337&address=${wallet}`;
const count = 40;
const transfersOf = (index: number) => (index === 7 ? 12_000 : 1_500);

/** A transaction that sends so many tokens of a collection to the wallet, as airdrops do. */
const row = (index: number) => ({
  chain_id: '31337',
  wallet: bytesOf(wallet),
  block_number: 5,
  tx_index: index,
  tx_hash: Buffer.alloc(32, index),
  block_hash: Buffer.alloc(32, 7),
  block_time: new Date(),
  tx: JSON.stringify(['0', sender, token, null, '0', '1', '1', '1', '1', 1, '0x4e1273f4']),
  moves: JSON.stringify({
    t: Array.from({ length: transfersOf(index) }, (_, part) => [
      token,
      String(part),
      '1',
      sender,
      wallet,
      1155,
      sender,
      1,
      index,
      part,
    ]),
  }),
  kind: 0,
});

test('a wallet with huge transactions is listed whole, in pages of a bounded size', async ({ acme, db }) => {
  await insertIndexHead(db);
  for (let index = 0; index < count; index += 1) await db('wallet_history').insert(row(index));

  type Row = { transaction_index: string; nft_transfers: object[] };
  const pages = await walk(async (cursor) => {
    const page = cursor === undefined ? '&limit=100' : `&cursor=${cursor}`;
    const { body, text } = await acme.get(path + page).expect(200);
    const { result, page_size: size, cursor: next } = body.history;
    expect(size).toBe(result.length);
    // One that is larger than a page comes alone.
    if (result.length > 1) expect(text.length).toBeLessThan(8_000_000);
    return { next, rows: result as Row[] };
  });
  const sizes = pages.map(({ rows }) => rows.length);
  const found = pages.flatMap(({ rows }) =>
    rows.map(({ transaction_index: index, nft_transfers: moved }) => `${index} ${moved.length}`),
  );

  const expected = Array.from({ length: count }, (_, index) => `${index} ${transfersOf(index)}`);
  expect(found).toEqual(expected.toReversed());
  expect(sizes).toContain(1);
  expect(Math.max(...sizes)).toBeGreaterThan(3);
});
