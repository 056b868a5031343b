import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { describe, expect } from 'vitest';
import { follow, issue, mint, test, wallets } from './ownership-setup.ts';

const [alice, bob, carol] = wallets;

describe('a snapshot', () => {
  test('202, then is taken when its block is final, and never changes', async ({ service, acme, tokens }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 3);
    await mint(service, tokens, nfts, alice);
    await tokens.send('moveBatch', [bob], [nfts[0]?.tokenId]);
    await follow(service);
    const block = await tokens.head();
    const accepted = await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(202);
    const { id } = accepted.body;
    expect(accepted.headers['location']).toBe(`/v1/api/snapshot/${id}`);
    const pending = (await acme.get(`/v1/api/snapshot/${id}`).expect(200)).body;
    expect(pending).toMatchObject({
      state: 'pending',
      block: String(block),
      blockHash: null,
      merkleRoot: null,
    });
    const csv = await acme.get(`/v1/api/snapshot/${id}`).set('accept', 'text/csv').expect(409);
    expect(csv.body.code).toBe('snapshot_pending');
    const proof = await acme.get(`/v1/api/snapshot/${id}/proof?wallet=${alice}`).expect(409);
    expect(proof.body.code).toBe('snapshot_pending');

    // What happens behind the block is none of the snapshot.
    await tokens.send('moveBatch', [carol], [nfts[1]?.tokenId]);
    await tokens.mine(5);
    await follow(service);
    await follow(service);
    const taken = (await acme.get(`/v1/api/snapshot/${id}`).expect(200)).body;
    const header = await tokens.call<{ hash: string }>(
      'eth_getBlockByNumber',
      `0x${block.toString(16)}`,
      false,
    );
    expect(taken).toMatchObject({ state: 'taken', blockHash: header.hash, tokenCount: 3, holderCount: 2 });
    const file = await acme.get(`/v1/api/snapshot/${id}`).set('accept', 'text/csv').expect(200);
    const lines = file.text.trim().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',').slice(0, 2)).toSorted()).toEqual(
      [
        [bob, '1'],
        [alice, '2'],
      ].toSorted(),
    );

    for (const wallet of [alice, bob]) {
      const { body } = await acme
        .get(`/v1/api/snapshot/${id}/proof?wallet=${wallet.toLowerCase()}`)
        .expect(200);
      expect(body.count).toBe(wallet === alice ? 2 : 1);
      const leaf = [wallet, String(body.count)];
      expect(StandardMerkleTree.verify(taken.merkleRoot, ['address', 'uint256'], leaf, body.proof)).toBe(
        true,
      );
      const more = [wallet, String(body.count + 1)];
      expect(StandardMerkleTree.verify(taken.merkleRoot, ['address', 'uint256'], more, body.proof)).toBe(
        false,
      );
    }
    const none = await acme.get(`/v1/api/snapshot/${id}/proof?wallet=${carol}`).expect(404);
    expect(none.body.code).toBe('holder_not_found');

    await tokens.send('moveBatch', [carol], [nfts[2]?.tokenId]);
    await tokens.mine(5);
    await follow(service);
    expect((await acme.get(`/v1/api/snapshot/${id}`)).body).toEqual(taken);
    await expect(service.db('ownership_snapshots').where({ id }).update({ token_count: 9 })).rejects.toThrow(
      'does not change',
    );
    await expect(service.db('snapshot_holders').where({ snapshot_id: id }).delete()).rejects.toThrow(
      'does not change',
    );
  });

  test('is of the block in asOf, and empty without holders', async ({ service, acme, tokens }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 1);
    const before = await tokens.head();
    await mint(service, tokens, nfts, alice);
    await tokens.mine(5);
    await follow(service);
    const { body } = await acme
      .post(`/v1/api/rwa/${rwa.id}/snapshot`)
      .send({ asOf: String(before) })
      .expect(202);
    await follow(service);
    expect((await acme.get(`/v1/api/snapshot/${body.id}`)).body).toMatchObject({
      state: 'taken',
      block: String(before),
      tokenCount: 0,
      holderCount: 0,
      merkleRoot: null,
    });
    await acme.get(`/v1/api/snapshot/${body.id}/proof?wallet=${alice}`).expect(404);
  });

  test('leaves an audit entry', async ({ service, acme, issued }) => {
    await follow(service);
    const { body } = await acme.post(`/v1/api/rwa/${issued.rwa.id}/snapshot`).send({}).expect(202);
    const entries = await service.db('audit_log').where({ action: 'snapshot.create', subject: body.id });
    expect(entries).toHaveLength(1);
  });
});

test('409: says when nothing was read yet', async ({ service, acme, tokens }) => {
  const { rwa } = await issue(service, await tokens.deployToken(), 1);
  expect((await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(409)).body.code).toBe(
    'owners_unread',
  );
});
