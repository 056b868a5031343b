import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';

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
  const head = { head_number: 9, head_hash: Buffer.alloc(32, 7), head_time: new Date() };
  await db('index_state').insert({ chain_id: '31337', start_block: 0, ...head });
  for (let index = 0; index < count; index += 1) await db('wallet_history').insert(row(index));

  const found: string[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const next: string = cursor === undefined ? '&limit=100' : `&cursor=${cursor}`;
    const { body, text } = await acme.get(path + next).expect(200);
    const { result } = body.history;
    expect(body.history.page_size).toBe(result.length);
    // One that is larger than a page comes alone.
    if (result.length > 1) expect(text.length).toBeLessThan(8_000_000);
    for (const record of result) found.push(`${record.transaction_index} ${record.nft_transfers.length}`);
    sizes.push(result.length);
    cursor = body.history.cursor;
  } while (cursor !== undefined);

  const expected = Array.from({ length: count }, (_, index) => `${index} ${transfersOf(index)}`);
  expect(found).toEqual(expected.toReversed());
  expect(sizes).toContain(1);
  expect(Math.max(...sizes)).toBeGreaterThan(3);
});
