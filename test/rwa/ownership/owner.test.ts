import { describe, expect } from 'vitest';
import { follow, issue, issueOne, mint, test, wallets } from './ownership-setup.ts';

const [alice, bob] = wallets;

describe('the owner of an NFT', () => {
  test('is null until it is minted, then follows each transfer, and is null after a burn', async ({
    service,
    acme,
    tokens,
  }) => {
    const { rwa, nft } = await issueOne(service, tokens.contract);
    const read = async () => {
      const detail = (await acme.get(`/v1/api/nft/${nft.id}`).expect(200)).body;
      const list = (await acme.get(`/v1/api/nft?rwaId=${rwa.id}&limit=1`).expect(200)).body[0];
      const ofRwa = (await acme.get(`/v1/api/rwa/${rwa.id}/nfts?limit=1`).expect(200)).body[0];
      const shown = [detail, list, ofRwa].map(({ owner, ownerSince, burnedAt }) => ({
        owner,
        ownerSince,
        burnedAt,
      }));
      expect(shown[1]).toEqual(shown[0]);
      expect(shown[2]).toEqual(shown[0]);
      return shown[0];
    };
    expect(await read()).toEqual({ owner: null, ownerSince: null, burnedAt: null });
    const block = await mint(service, tokens, [nft], alice);
    expect(await read()).toMatchObject({ owner: null });
    await follow(service);
    expect(await read()).toMatchObject({
      owner: alice,
      ownerSince: { block: String(block) },
      burnedAt: null,
    });
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await follow(service);
    expect(await read()).toMatchObject({ owner: bob, ownerSince: { block: String(block + 1n) } });
    await tokens.send('burn', nft.tokenId);
    await follow(service);
    expect(await read()).toEqual({ owner: null, ownerSince: null, burnedAt: expect.any(String) });
  });

  test('is not shown of a mint that a reorganisation took back', async ({ service, acme, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await follow(service);
    await service
      .db('nfts')
      .where({ id: nft.id })
      .update({ mint_state: 'submitted', minted_at: null, minted_tx: null, minted_block: null });
    expect((await acme.get(`/v1/api/nft/${nft.id}`)).body).toMatchObject({ owner: null, ownerSince: null });
    expect((await acme.get(`/v1/api/nft?owner=${alice}`)).headers['x-total-count']).toBe('0');
  });

  test('changes updatedAt, so that a poll finds it', async ({ service, acme, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    const { updatedAt } = (await acme.get(`/v1/api/nft/${nft.id}`)).body;
    await follow(service);
    const after = (await acme.get(`/v1/api/nft/${nft.id}`)).body.updatedAt;
    expect(after > updatedAt).toBe(true);
  });
});

describe('GET /nft?owner=', () => {
  test('lists what a wallet owns, over all RWAs, in pages with a total', async ({
    service,
    acme,
    globex,
    tokens,
  }) => {
    const wallet = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
    const one = await issue(service, tokens.contract, 2);
    const two = await issue(service, tokens.contract, 2);
    const own = [...one.nfts, ...two.nfts];
    await mint(service, tokens, own, wallet);
    await follow(service);
    for (const written of [wallet, wallet.toLowerCase()]) {
      const { body, headers } = await acme.get(`/v1/api/nft?owner=${written}`).expect(200);
      expect(headers['x-total-count']).toBe('4');
      expect(body.map(({ id }: { id: string }) => id)).toEqual(own.map(({ id }) => id));
    }
    const page = await acme.get(`/v1/api/nft?owner=${wallet}&limit=3`).expect(200);
    const rest = await acme
      .get(`/v1/api/nft?owner=${wallet}&cursor=${page.headers['x-next-cursor']}`)
      .expect(200);
    expect(rest.body.map(({ id }: { id: string }) => id)).toEqual([own[3]?.id]);
    expect((await acme.get(`/v1/api/nft?owner=${wallet}&rwaId=${one.rwa.id}`)).headers['x-total-count']).toBe(
      '2',
    );
    expect((await globex.get(`/v1/api/nft?owner=${wallet}`)).body).toEqual([]);
  });

  test('400: rejects what is no address, and a wrong checksum', async ({ acme }) => {
    expect((await acme.get('/v1/api/nft?owner=0x12').expect(400)).body.detail).toBe(
      'owner must be 0x and 40 hex digits',
    );
    const wrong = '0x15D34AAf54267DB7D7c367839AAf71A00a2C6A65';
    expect((await acme.get(`/v1/api/nft?owner=${wrong}`).expect(400)).body.detail).toContain('checksum');
  });
});
