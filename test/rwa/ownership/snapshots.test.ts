import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { describe, expect, vi } from 'vitest';
import { purgeExpiredRows } from '../../../src/db/records/housekeeping.ts';
import {
  listDueSnapshots,
  purgeSnapshotHolders,
  saveSnapshot,
} from '../../../src/rwa/ownership/snapshot-store.ts';
import { asUser } from '../../support/database.ts';
import { perFile } from '../../support/fixtures.ts';
import { openPool } from '../../support/open-pool.ts';
import type { TestService } from '../../support/service.ts';
import type { ServiceOptions } from '../../support/serving.ts';
import { addRwa } from '../samples.ts';
import { test as base, follow, issue, mint, wallets } from './ownership-setup.ts';

const test = base.extend(
  'serviceOptions',
  perFile,
  ({ tokens }): ServiceOptions => ({
    rpcUrl: tokens.rpcUrl,
    databaseUser: 'test_minting',
    settings: { SNAPSHOT_HOLDERS_PER_COMPANY: '1000' },
  }),
);

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

describe('what the snapshots of a company take', () => {
  test('the same RWA and block is the same snapshot, also when it is taken', async ({
    service,
    acme,
    tokens,
  }) => {
    const { rwa } = await issue(service, tokens.contract, 1);
    await service.db('ownership_snapshots').where({ taken_at: null }).delete();
    await follow(service);
    const asOf = String(await tokens.head());
    const ask = () => acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({ asOf }).expect(202);
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(second.body).toEqual(first.body);
    await tokens.mine(5);
    await follow(service);
    expect((await ask()).body).toMatchObject({ id: first.body.id, state: 'taken' });
    const entries = await service
      .db('audit_log')
      .where({ action: 'snapshot.create', subject: first.body.id });
    expect(entries).toHaveLength(1);
  });

  test('one of each company is taken in a poll, the oldest first', async ({
    service,
    acme,
    globex,
    tokens,
  }) => {
    const { rwa } = await issue(service, tokens.contract, 1);
    const other = await addRwa(service.db, service.companies.globex, {
      isClaimable: true,
      contractAddress: await tokens.deployToken(),
    });
    await tokens.mine(9);
    await follow(service);
    const top = Number(await tokens.head());
    const take = async (as: typeof acme, id: string, asOf: number) =>
      (
        await as
          .post(`/v1/api/rwa/${id}/snapshot`)
          .send({ asOf: String(asOf) })
          .expect(202)
      ).body.id;
    const [oldest, next] = [await take(acme, rwa.id, top - 4), await take(acme, rwa.id, top - 5)];
    const ofOther = await take(globex, other.id, top - 4);
    const stateOf = async (as: typeof acme, id: string) =>
      (await as.get(`/v1/api/snapshot/${id}`)).body.state;
    await follow(service);
    expect([await stateOf(acme, oldest), await stateOf(acme, next), await stateOf(globex, ofOther)]).toEqual([
      'taken',
      'pending',
      'taken',
    ]);
    await follow(service);
    expect(await stateOf(acme, next)).toBe('taken');
  });

  test('one that cannot be taken delays no other of its company', async ({ service, acme, tokens }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 1);
    await mint(service, tokens, nfts, alice);
    await tokens.mine(9);
    await follow(service);
    const top = Number(await tokens.head());
    const take = async (asOf: number) =>
      (
        await acme
          .post(`/v1/api/rwa/${rwa.id}/snapshot`)
          .send({ asOf: String(asOf) })
          .expect(202)
      ).body.id;
    const [wrong, ...others] = [await take(top - 4), await take(top - 5), await take(top - 6)];
    // What it stores is there already.
    const holder = { snapshot_id: wrong, wallet: alice, token_ids: [], proof: [] };
    await service.db('snapshot_holders').insert(holder);
    const failed = new Set<string>();
    for (let poll = 0; poll < 3; poll += 1)
      await follow(service, undefined, undefined, failed).catch(() => {});
    const rows = await service.db('ownership_snapshots').whereIn('id', [wrong, ...others]);
    const taken = rows.filter(({ taken_at }) => taken_at !== null).map(({ id }) => id);
    expect(taken.toSorted()).toEqual(others.toSorted());
    await acme.delete(`/v1/api/snapshot/${wrong}`).expect(204);
  });

  test('409: the sixth pending one, until the oldest is deleted', async ({ service, acme, tokens }) => {
    const { rwa } = await issue(service, tokens.contract, 1);
    await tokens.mine(9);
    await follow(service);
    const top = Number(await tokens.head());
    const ask = (asOf: number) => acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({ asOf: String(asOf) });
    const ids: string[] = [];
    for (let back = 0; back < 5; back += 1) ids.push((await ask(top - back).expect(202)).body.id);
    const { body } = await ask(top - 5).expect(409);
    expect(body).toMatchObject({
      code: 'too_many_pending_snapshots',
      detail: expect.stringContaining(ids[0] ?? ''),
    });
    // What is there already takes nothing more.
    await ask(top).expect(202);
    await acme.delete(`/v1/api/snapshot/${ids[0]}`).expect(204);
    await ask(top - 5).expect(202);
    await service.db('ownership_snapshots').where({ taken_at: null }).delete();
  });

  test('409: more holders than the company may store, until the oldest is deleted', async ({
    service,
    acme,
    tokens,
  }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 2);
    await mint(service, tokens, nfts.slice(0, 1), alice);
    await mint(service, tokens, nfts.slice(1), bob);
    await tokens.mine(5);
    await follow(service);
    const top = Number(await tokens.head());
    const ask = (asOf: number) => acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({ asOf: String(asOf) });
    const ofCompany = { company_id: service.companies.acme };
    await service.db('ownership_snapshots').where(ofCompany).delete();
    const [{ id: oldest }] = await service
      .db('ownership_snapshots')
      .insert({ ...ofCompany, rwa_id: rwa.id, block_number: '999999999', expected_holders: 997 })
      .returning('id');
    const { id } = (await ask(top - 4).expect(202)).body;
    await follow(service);
    expect((await acme.get(`/v1/api/snapshot/${id}`)).body.holderCount).toBe(2);
    const { body } = await ask(top - 3).expect(409);
    expect(body).toMatchObject({
      code: 'snapshot_holders_full',
      detail: `The snapshot has 2 holders, and snapshots of your company may store 1 more. The oldest is ${oldest}`,
    });
    await acme.delete(`/v1/api/snapshot/${oldest}`).expect(204);
    await ask(top - 3).expect(202);
  });

  test('one that was taken is deleted with its holders, and that leaves an audit entry', async ({
    service,
    acme,
    globex,
    tokens,
  }) => {
    const { rwa, nfts } = await issue(service, tokens.contract, 1);
    await mint(service, tokens, nfts, alice);
    await tokens.mine(5);
    await follow(service);
    const { id } = (await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(202)).body;
    await tokens.mine(5);
    await follow(service);
    expect(await holdersOf(service, id)).toBe(1);
    await globex.delete(`/v1/api/snapshot/${id}`).expect(404);
    await acme.delete(`/v1/api/snapshot/${id}`).expect(204);
    await purgeExpiredRows(service.db, [purgeSnapshotHolders]);
    expect(await holdersOf(service, id)).toBe(0);
    await acme.get(`/v1/api/snapshot/${id}`).expect(404);
    await acme.delete(`/v1/api/snapshot/${id}`).expect(404);
    expect(await service.db('audit_log').where({ action: 'snapshot.delete', subject: id })).toHaveLength(1);
  });
});

const holdersOf = async ({ db }: TestService, id: string) =>
  Number((await db('snapshot_holders').where({ snapshot_id: id }).count())[0]?.['count']);

const manyHolders = test.extend('large', async ({ service, acme, tokens }) => {
  const { rwa, nfts } = await issue(service, tokens.contract, 1);
  await mint(service, tokens, nfts, alice);
  await tokens.mine(5);
  await follow(service);
  const ask = async () => (await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(202)).body.id;
  const id: string = await ask();
  await tokens.mine(5);
  await follow(service);
  await service.db.raw(
    `INSERT INTO snapshot_holders SELECT ?, '0x' || lpad(to_hex(n), 40, '0'), '{1}', '{}' FROM generate_series(1, 11999) n`,
    [id],
  );
  return { id, ask };
});

describe('a deleted snapshot with very many holders', () => {
  manyHolders(
    'is gone at once; its holders go with what has had its time, and no pass without a due snapshot looks for them',
    async ({ service, acme, tokens, large }) => {
      const kept = await large.ask();
      await tokens.mine(5);
      await follow(service);
      await acme.delete(`/v1/api/snapshot/${large.id}`).expect(204);
      await acme.get(`/v1/api/snapshot/${large.id}`).set('accept', 'text/csv').expect(404);
      await follow(service);
      expect(await holdersOf(service, large.id)).toBe(12_000);
      const worker = openPool(asUser(service.databaseUrl, 'test_worker'));
      expect(await purgeSnapshotHolders(worker, 5_000)).toBe(5_000);
      await purgeExpiredRows(worker, [purgeSnapshotHolders]);
      expect(await holdersOf(service, large.id)).toBe(0);
      expect(await holdersOf(service, kept)).toBe(1);
    },
  );

  manyHolders(
    'leaves no holders when the next snapshot is taken',
    async ({ service, acme, tokens, large }) => {
      await acme.delete(`/v1/api/snapshot/${large.id}`).expect(204);
      const next = await large.ask();
      await tokens.mine(5);
      await follow(service);
      expect((await acme.get(`/v1/api/snapshot/${next}`)).body.state).toBe('taken');
      expect(await holdersOf(service, large.id)).toBe(0);
      expect(await holdersOf(service, next)).toBe(1);
    },
  );
});

test('a snapshot is deleted at once while its holders are stored, and leaves none', async ({
  service: { db },
  service,
  acme,
  tokens,
}) => {
  const { rwa } = await issue(service, tokens.contract, 1);
  await tokens.mine(5);
  await follow(service);
  const { id } = (await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(202)).body;
  const contracts = [tokens.contract];
  const question = {
    chainId: tokens.chainId,
    contracts,
    final: await tokens.head(),
    failed: new Set<string>(),
  };
  const [due] = await listDueSnapshots(db, question);
  if (due === undefined || due.id !== id) throw new Error('another one is due');
  const deleted: number[] = [];
  const saving = db.transaction(async (tx) => {
    const store = tx.raw.bind(tx);
    const storeThenDelete = (sql: string, bindings: never) => {
      const stored = store(sql, bindings);
      if (!sql.startsWith('INSERT INTO snapshot_holders')) return stored;
      return stored.then(async () => deleted.push((await acme.delete(`/v1/api/snapshot/${id}`)).status));
    };
    vi.spyOn(tx, 'raw').mockImplementation(storeThenDelete as never);
    await saveSnapshot(tx, due, {
      block: { number: due.block, hash: `0x${'00'.repeat(32)}`, time: new Date() },
      holders: [{ wallet: alice, count: 1, tokenIds: ['1'] }],
      tree: { root: `0x${'00'.repeat(32)}`, proofOf: () => [] },
      signal: AbortSignal.any([]),
    });
  });
  await expect(saving).rejects.toThrow(`Snapshot ${id} was deleted`);
  expect(deleted).toEqual([204]);
  expect(await holdersOf(service, id)).toBe(0);
});

test('a ledger that was rolled back after the holders were read leaves the snapshot to the next pass', async ({
  service: { db },
  service,
  acme,
  tokens,
}) => {
  const { rwa, nfts } = await issue(service, tokens.contract, 1);
  await mint(service, tokens, nfts, alice);
  await tokens.mine(5);
  await follow(service);
  const { id } = (await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(202)).body;
  const final = await tokens.head();
  const question = {
    chainId: tokens.chainId,
    contracts: [tokens.contract],
    final,
    failed: new Set<string>(),
  };
  const [due] = await listDueSnapshots(db, question);
  if (due === undefined) throw new Error('nothing is due');
  const block = { number: due.block, hash: `0x${'00'.repeat(32)}`, time: new Date() };
  const save = (rollBacks: string) =>
    db.transaction((tx) =>
      saveSnapshot(
        tx,
        { ...due, rollBacks },
        { block, holders: [], tree: null, signal: AbortSignal.any([]) },
      ),
    );
  await save(String(Number(due.rollBacks) - 1));
  expect((await acme.get(`/v1/api/snapshot/${id}`)).body.state).toBe('pending');
  await save(due.rollBacks);
  expect((await acme.get(`/v1/api/snapshot/${id}`)).body.state).toBe('taken');
});

test('409: says when nothing was read yet', async ({ service, acme, tokens }) => {
  const { rwa } = await issue(service, await tokens.deployToken(), 1);
  expect((await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(409)).body.code).toBe(
    'owners_unread',
  );
});
