import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { listOtherRecipients, lockQueuedMints } from '../../src/rwa/mint-worker/stores/queued-nft-store.ts';
import { listLanes } from '../../src/rwa/minting/lane-status-store.ts';
import { replaceTokenId } from '../../src/rwa/minting/mint-repair-store.ts';
import {
  listMints,
  type StateUnderWay,
  statesUnderWay,
} from '../../src/rwa/operators/remedies/mint-admin-store.ts';
import { addCompany, addManyNfts, addNetwork, addRwa, recipient } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';

const chainId = '31337';
const others = ['0x90F79bf6EB2c4f870365E785982E1f101E93b906', '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'];
const [issued, queued, failed] = [20_000, 10_000, 4_000];

// By serial: what is queued, what has failed and two that are in transactions; all else is unclaimed.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'large');
  await addRwa(db, 'large');
  await addManyNfts(db, issued);
  await db('rwas').update({ last_serial: issued, total_nfts: issued });
  await db.raw(
    `UPDATE nfts SET mint_chain_id = :chainId, recipient = :recipient, queued_at = now() - (20001 - serial) * interval '1 minute',
       mint_state = CASE WHEN serial <= :queued THEN 'queued' WHEN serial <= :failed THEN 'failed' ELSE 'submitted' END
     WHERE serial <= :failed + 2`,
    { chainId, recipient, queued, failed: queued + failed },
  );
  const signers = [
    '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
    '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  ];
  await db('mint_lanes').insert(signers.map((signer) => ({ chain_id: chainId, signer })));
  await db.raw('VACUUM ANALYZE nfts');
});

const serialsOf = async (db: Database, ids: readonly string[]) => {
  const rows = await db('nfts').whereIn('id', ids).select('id', 'serial');
  const serials = new Map(rows.map(({ id, serial }) => [id, Number(serial)]));
  return ids.map((id) => serials.get(id));
};

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('of a large queue', () => {
  test('what operators list is read alone, in every state', async ({ db }) => {
    const list = (states: readonly StateUnderWay[] = statesUnderWay) =>
      listMints(db, { states, chainId, limit: 5 });
    const first = (await list()).map(({ nftId }) => nftId);
    expect(await serialsOf(db, first)).toEqual(upTo(5));
    expect((await list(['failed'])).map(({ state }) => state)).toEqual(Array(5).fill('failed'));
    expect(await list(['submitted'])).toHaveLength(2);
    expect(await listMints(db, { states: statesUnderWay, chainId: '1', limit: 5 })).toEqual([]);
    const all = await listMints(db, { states: statesUnderWay, chainId: undefined, limit: issued });
    expect(all).toHaveLength(queued + failed + 2);
    expect(await rowsReadBy(db, 'nfts', list)).toBeLessThan(30);
  });

  test('other recipients are looked for at both ends', async ({ db }) => {
    const [contract] = await db('nfts').where({ mint_state: 'queued' }).limit(1).pluck('mint_contract');
    const mint = { contract, recipient, nftId: '', tokenId: '1', companyId: '' };
    const find = () => listOtherRecipients(db, chainId, mint);
    expect(await find()).toEqual([]);
    await db('nfts').where({ serial: 3 }).update({ recipient: others[0] });
    await db('nfts').where({ serial: queued }).update({ recipient: others[1] });
    expect((await find()).toSorted()).toEqual(others.toSorted());
    expect(await rowsReadBy(db, 'nfts', find)).toBeLessThanOrEqual(2_000);
  });

  test('one that was given another token meanwhile is not sent as the old one', async ({ db }) => {
    const [first, second] = await db('nfts').where({ mint_state: 'queued', recipient }).limit(2);
    const mints = [first, second].map((nft) => ({
      nftId: nft.id,
      recipient,
      tokenId: nft.token_id,
      companyId: '',
    }));
    const lock = () => db.transaction((tx) => lockQueuedMints(tx, mints));
    expect(await lock()).toEqual([]);
    await db.transaction((tx) => replaceTokenId(tx, first.id));
    expect(await lock()).toEqual([first.id]);
    const { serial, token_id: tokenId } = await db('nfts').where({ id: first.id }).first();
    expect([serial, tokenId === first.token_id]).toEqual([first.serial, false]);
  });

  test('the NFTs are counted once for all lanes of a network', async ({ db }) => {
    const count = () => listLanes(db, {});
    expect((await count()).map((lane) => lane.queued)).toEqual([queued, queued]);
    expect(await rowsReadBy(db, 'nfts', count)).toBeLessThan(issued + 10);
  });

  test('a few are read for who counts none, and the oldest is known all the same', async ({ db }) => {
    const look = () => listLanes(db, {}, 0);
    const [lane] = await listLanes(db, {});
    expect((await look())[0]).toEqual({ ...lane, queued: 0 });
    expect(await rowsReadBy(db, 'nfts', look)).toBeLessThan(10);
  });
});
