import { describe, expect } from 'vitest';
import { startGate } from '../../keys/tcp-gate.ts';
import { follow, issue, mint, test, wallets } from './ownership-setup.ts';

const [alice, bob, carol] = wallets;
const path = (id: string, query = '') => `/v1/api/rwa/${id}/holders${query}`;

type Body = {
  minted: number;
  held: number;
  differences: { reason: string; count: number }[];
  holders: { wallet: string; count: number; tokenIds: string[] }[];
};

const sumOf = ({ held, differences }: Body) => differences.reduce((sum, { count }) => sum + count, held);

describe('200', () => {
  test('names block, hash and finality, and counts what each wallet owns', async ({
    service,
    acme,
    tokens,
  }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 4);
    await mint(service, tokens, nfts, alice);
    await tokens.send('moveBatch', [bob], [nfts[0]?.tokenId]);
    await follow(service);
    const { body, headers } = await acme.get(path(rwa.id)).expect(200);
    const { hash } = await tokens.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false);
    expect(body).toMatchObject({
      block: String(await tokens.head()),
      blockHash: hash,
      finality: 'confirmed',
      minted: 4,
      held: 4,
      differences: [],
      cursor: null,
    });
    expect(body.holders).toEqual(
      [
        {
          wallet: alice,
          count: 3,
          share: 0.75,
          tokenIds: nfts
            .slice(1)
            .map(({ tokenId }) => tokenId)
            .toSorted(byNumber),
        },
        { wallet: bob, count: 1, share: 0.25, tokenIds: [nfts[0]?.tokenId] },
      ].toSorted((one, other) => (one.wallet < other.wallet ? -1 : 1)),
    );
    expect(headers).toMatchObject({
      'x-block-hash': hash,
      'x-block-finality': 'confirmed',
      'x-not-held': '0',
    });
  });

  test('says why the counts are not the minted NFTs, and adds up', async ({ service, acme, tokens }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 6);
    const [burned, silent, unrecorded, later, ...kept] = nfts;
    if (!burned || !silent || !unrecorded || !later) throw new Error('too few');
    await mint(service, tokens, [burned, ...kept], alice);
    await tokens.send('burn', burned.tokenId);
    await tokens.send('mintBatch', [bob], [unrecorded.tokenId]);
    await service
      .db('nfts')
      .where({ id: silent.id })
      .update({
        mint_state: 'minted',
        minted_at: new Date(),
        minted_tx: `0x${'1'.repeat(64)}`,
        minted_block: '1',
      });
    await follow(service);
    await mint(service, tokens, [later], carol);
    const { body, headers } = await acme.get(path(rwa.id)).expect(200);
    expect(body).toMatchObject({ minted: 5, held: 3 });
    expect(body.differences).toEqual([
      { reason: 'burned', count: 1 },
      { reason: 'minted_later', count: 1 },
      { reason: 'no_transfer', count: 1 },
      { reason: 'not_recorded', count: -1 },
    ]);
    expect(sumOf(body)).toBe(body.minted);
    expect(headers['x-not-held']).toBe('2');
  });

  test('answers for a past block and for a moment', async ({ service, acme, tokens }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 1);
    const block = await mint(service, tokens, nfts, alice);
    await tokens.call('evm_increaseTime', 100);
    await tokens.send('moveBatch', [bob], [nfts[0]?.tokenId]);
    await tokens.mine(6);
    await follow(service);
    const past = (await acme.get(path(rwa.id, `?asOf=${block}`)).expect(200)).body;
    const header = await tokens.call<{ hash: string; timestamp: string }>(
      'eth_getBlockByNumber',
      `0x${block.toString(16)}`,
      false,
    );
    expect(past).toMatchObject({ block: String(block), blockHash: header.hash, minted: 1 });
    expect(past.holders).toEqual([expect.objectContaining({ wallet: alice })]);
    const moment = new Date((Number(header.timestamp) + 50) * 1_000).toISOString();
    expect((await acme.get(path(rwa.id, `?asOf=${moment}`)).expect(200)).body).toMatchObject(past);
    const now = (await acme.get(path(rwa.id)).expect(200)).body;
    expect(now.holders).toEqual([expect.objectContaining({ wallet: bob })]);
  });

  test('gives pages of one block', async ({ service, acme, tokens }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 3);
    await mint(service, tokens, nfts, alice);
    await tokens.send(
      'moveBatch',
      [bob, carol],
      nfts.slice(1).map(({ tokenId }) => tokenId),
    );
    await follow(service);
    const all = (await acme.get(path(rwa.id)).expect(200)).body;
    const first = (await acme.get(path(rwa.id, '?limit=2')).expect(200)).body;
    await tokens.send(
      'moveBatch',
      [alice, alice],
      nfts.slice(1).map(({ tokenId }) => tokenId),
    );
    await follow(service);
    const rest = (await acme.get(path(rwa.id, `?limit=2&cursor=${first.cursor}`)).expect(200)).body;
    expect([...first.holders, ...rest.holders]).toEqual(all.holders);
    expect(rest).toMatchObject({ block: first.block, blockHash: first.blockHash, cursor: null });
  });

  test('gives a file with all holders', async ({ service, acme, tokens }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 2);
    await mint(service, tokens, nfts, alice);
    await follow(service);
    const { text, headers } = await acme.get(path(rwa.id)).set('accept', 'text/csv').expect(200);
    const ids = nfts.map(({ tokenId }) => tokenId).toSorted(byNumber);
    expect(text).toBe(`wallet,count,share,token_ids\r\n${alice},2,1,${ids.join(' ')}\r\n`);
    expect(headers).toMatchObject({ 'content-type': 'text/csv; charset=utf-8', 'x-not-held': '0' });
  });
});

const byNumber = (one: string, other: string) => (BigInt(one) < BigInt(other) ? -1 : 1);

describe('400', () => {
  test('as_of_not_read: of a block or moment after the newest, or before the first', async ({
    service,
    acme,
    tokens,
    issued,
  }) => {
    await follow(service);
    const head = await tokens.head();
    const [{ first_block: first }] = await service.db('nft_ledgers').where({ contract: tokens.contract });
    const after = (await acme.get(path(issued.rwa.id, `?asOf=${head + 1n}`)).expect(400)).body;
    expect(after).toMatchObject({
      code: 'as_of_not_read',
      detail: `The owners at ${head + 1n} were not read`,
    });
    for (const asOf of ['2099-01-01', '1970-01-02', ...(first === '0' ? [] : ['0'])]) {
      expect((await acme.get(path(issued.rwa.id, `?asOf=${asOf}`)).expect(400)).body.code).toBe(
        'as_of_not_read',
      );
    }
  });

  test('cursor_invalid: when a reorganisation has replaced the block of the pages', async ({
    service,
    acme,
    tokens,
  }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 2);
    await mint(service, tokens, nfts, alice);
    await tokens.mine(3);
    await tokens.send('moveBatch', [bob], [nfts[0]?.tokenId]);
    await follow(service);
    const { cursor } = (await acme.get(path(rwa.id, '?limit=1')).expect(200)).body;
    await tokens.reorganise(1);
    await tokens.mine(1);
    await follow(service);
    expect((await acme.get(path(rwa.id, `?cursor=${cursor}`)).expect(400)).body.code).toBe('cursor_invalid');
  });
});

test('409: says when nothing was read yet', async ({ service, acme, tokens }) => {
  const { rwa } = await issue(service, await tokens.deployToken(), 1);
  expect((await acme.get(path(rwa.id)).expect(409)).body.code).toBe('owners_unread');
});

test('503: says when no node gives the block, and answers for the newest one all the same', async ({
  service,
  tokens,
  issued,
}) => {
  await tokens.mine(2);
  await follow(service);
  const gate = await startGate(tokens.rpcUrl);
  await service.db('networks').update({ rpc_urls: [gate.through(tokens.rpcUrl)] });
  await gate.close();
  const cut = await service.twin();
  const client = cut.as(cut.keys.acme);
  const before = (await tokens.head()) - 1n;
  expect((await client.get(path(issued.rwa.id, `?asOf=${before}`)).expect(503)).body.code).toBe(
    'service_unavailable',
  );
  await client.get(path(issued.rwa.id)).expect(200);
  await service.db('networks').update({ rpc_urls: [tokens.rpcUrl] });
});
