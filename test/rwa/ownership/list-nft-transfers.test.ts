import { describe, expect } from 'vitest';
import { follow, issue, issueOne, mint, test, wallets } from './ownership-setup.ts';

const [alice, bob] = wallets;
const path = (id: string) => `/v1/api/nft/${id}/transfers`;

describe('200', () => {
  test('lists mint, transfers and burn, the newest first, in pages', async ({ service, acme, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    expect((await acme.get(path(nft.id)).expect(200)).body).toEqual([]);
    await mint(service, tokens, [nft], alice);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await tokens.send('burn', nft.tokenId);
    await follow(service);
    const all = await acme.get(path(nft.id)).expect(200);
    expect(all.headers['x-total-count']).toBe('3');
    const moves = all.body.map(({ fromWallet, toWallet }: Record<string, unknown>) => [fromWallet, toWallet]);
    expect(moves).toEqual([
      [bob, null],
      [alice, bob],
      [null, alice],
    ]);
    const first = await acme.get(`${path(nft.id)}?limit=2`).expect(200);
    expect(first.body).toEqual(all.body.slice(0, 2));
    const rest = await acme
      .get(`${path(nft.id)}?limit=2&cursor=${first.headers['x-next-cursor']}`)
      .expect(200);
    expect(rest.body).toEqual(all.body.slice(2));
    expect(rest.headers['x-next-cursor']).toBeUndefined();
  });

  test('says of each transfer whether it is final', async ({ service, acme, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await follow(service);
    expect((await acme.get(path(nft.id))).body[0].finality).toBe('confirmed');
    await tokens.mine(5);
    await follow(service);
    await follow(service);
    expect((await acme.get(path(nft.id))).body[0].finality).toBe('final');
  });
});

test('400: rejects a cursor of another NFT', async ({ service, acme, tokens }) => {
  const { nfts } = await issue(service, tokens.contract, 2);
  const [one, other] = nfts;
  if (one === undefined || other === undefined) throw new Error('no NFT');
  await mint(service, tokens, [one, other], alice);
  await tokens.send('moveBatch', [bob], [one.tokenId]);
  await follow(service);
  const { headers } = await acme.get(`${path(one.id)}?limit=1`).expect(200);
  const answer = await acme.get(`${path(other.id)}?cursor=${headers['x-next-cursor']}`).expect(400);
  expect(answer.body.code).toBe('cursor_invalid');
});
