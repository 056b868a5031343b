import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import { deleteAttendee, registerAttendee } from '../../src/events/attendee-store.ts';
import { purgeAttendees } from '../../src/events/deleted-event-store.ts';
import { namedOnly } from '../../src/events/event-fields.ts';
import { deleteEvent, insertEvent, updateEvent } from '../../src/events/event-store.ts';
import { insertLostNfts } from '../../src/rwa/minting/mint-repair-store.ts';
import {
  cancelNft,
  failNfts,
  mintNfts,
  queueNfts,
  releaseNfts,
  submitNfts,
  unmintNfts,
} from '../../src/rwa/minting/mint-state-store.ts';
import {
  addCompany,
  addNetwork,
  addNfts,
  addRwa,
  mintedTx,
  recipient,
  serviceVault,
} from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';

const newsOf = (db: Knex, subject: string) =>
  db('news').where({ subject }).orderBy('seq').select('id', 'company_id', 'type', 'data', 'position');
const typesOf = async (db: Knex, subject: string) => (await newsOf(db, subject)).map(({ type }) => type);

const mint = (nftId: string, blockNumber = 7n) => ({
  nftId,
  in: { hash: mintedTx, blockNumber, time: new Date('2027-03-02T10:15:30Z') },
});

async function givenNfts(db: Knex, count: number) {
  const chainId = await addNetwork(db);
  const rwa = await addRwa(db, await addCompany(db, 'acme'), { isClaimable: true });
  const nfts = await addNfts(db, serviceVault, rwa, count);
  return { rwa, chainId, ids: nfts.map(({ id }) => id), id: nfts[0]?.id ?? '' };
}

describe('an NFT', () => {
  test('has news of each state, in the order of its changes, without secrets', async ({ db }) => {
    const { id, rwa, chainId } = await givenNfts(db, 1);
    expect(await newsOf(db, id)).toEqual([]);
    await db.transaction((tx) => queueNfts(tx, [{ id, chainId, recipient }]));
    await db.transaction((tx) => submitNfts(tx, [id]));
    await db.transaction((tx) => releaseNfts(tx, randomUUID(), [id]));
    await db.transaction((tx) => submitNfts(tx, [id]));
    await db.transaction((tx) => failNfts(tx, randomUUID(), [{ nftId: id, reason: 'no' }]));
    await db.transaction((tx) => cancelNft(tx, id));
    const news = await newsOf(db, id);
    expect(news.map(({ type, data }) => [type, data])).toEqual(
      ['queued', 'submitted', 'queued', 'submitted', 'failed', 'cancelled'].map((state) => [
        `nft.${state}`,
        { nftId: id, rwaId: rwa.id, state: state === 'cancelled' ? 'unclaimed' : state },
      ]),
    );
    expect(news.every(({ company_id, position }) => company_id === 'acme' && position === null)).toBe(true);
  });

  test('whose mint a reorganisation removed names the news that is no longer true', async ({ db }) => {
    const { id, chainId } = await givenNfts(db, 1);
    await db.transaction(async (tx) => {
      await queueNfts(tx, [{ id, chainId, recipient }]);
      await submitNfts(tx, [id]);
      await mintNfts(tx, [mint(id)]);
    });
    await db.transaction((tx) => unmintNfts(tx, [id]));
    await db.transaction((tx) => mintNfts(tx, [mint(id, 9n)]));
    // A repair that corrects the block of a mint takes the earlier one back too.
    await db('nfts').where({ id }).update({ minted_block: '10' });
    const news = await newsOf(db, id);
    expect(news.map(({ type }) => type)).toEqual([
      ...[
        'nft.queued',
        'nft.submitted',
        'nft.minted',
        'nft.reverted',
        'nft.minted',
        'nft.reverted',
        'nft.minted',
      ],
    ]);
    expect(news[3]?.data).toMatchObject({ state: 'submitted', corrects: news[2]?.id });
    expect(news[5]?.data).toMatchObject({ state: 'minted', corrects: news[4]?.id });
  });

  test('that a recovery inserts as minted has news', async ({ db }) => {
    const { rwa, chainId } = await givenNfts(db, 1);
    const id = '0194f1f2-0000-4000-8000-000000000001';
    const event = {
      recipient,
      hash: mintedTx,
      blockNumber: 5n,
      blockHash: mintedTx,
      tokenId: ((BigInt(rwa.number) << 64n) + 99n).toString(),
    };
    const lost = {
      nftId: id,
      rwaId: rwa.id,
      event,
      time: new Date(),
      sealed: { cipher: Buffer.from('x'), keyId: 'test' },
    };
    await db.transaction((tx) => insertLostNfts(tx, chainId, [lost]));
    expect(await typesOf(db, id)).toEqual(['nft.minted']);
  });

  test('has none when a transaction is rolled back, or nothing that callers follow changes', async ({
    db,
  }) => {
    const { id, chainId } = await givenNfts(db, 1);
    const rolledBack = db.transaction(async (tx) => {
      await queueNfts(tx, [{ id, chainId, recipient }]);
      throw new Error('back');
    });
    await expect(rolledBack).rejects.toThrow('back');
    await db('nfts').where({ id }).update({ data: '{"a":1}' });
    expect(await newsOf(db, id)).toEqual([]);
  });

  test('among ten thousand has its news after a first change of one, by a plan that compares each once', async ({
    db,
  }) => {
    const { ids, chainId } = await givenNfts(db, 1);
    const { ids: many } = await givenNfts(db, 10_000);
    await db.transaction(async (tx) => {
      await tx.raw("SET LOCAL statement_timeout = '8s'");
      await queueNfts(
        tx,
        ids.map((id) => ({ id, chainId, recipient })),
      );
      await queueNfts(
        tx,
        many.map((id) => ({ id, chainId, recipient })),
      );
    });
    const [row] = await db('news').whereIn('subject', many).count();
    expect(row?.['count']).toBe('10000');
  });
});

describe('an event', () => {
  test('has news of its creation, change, attendees and removal', async ({ db }) => {
    const { id } = await insertEvent(db, 'acme', { ...namedOnly('Fair'), maxAttendees: 2 });
    await db.transaction((tx) => updateEvent(tx, 'acme', id, { ...namedOnly('Fair 2'), maxAttendees: 1 }));
    await registerAttendee(db, { companyId: 'acme', eventId: id, attendeeId: 'ann' });
    await db.transaction((tx) => deleteEvent(tx, 'acme', id));
    const news = await newsOf(db, id);
    expect(news.map(({ type }) => type).sort()).toEqual([
      'attendee.added',
      'attendee.removed',
      'event.created',
      'event.deleted',
      'event.full',
      'event.updated',
    ]);
    expect(news.find(({ type }) => type === 'attendee.added')?.data).toEqual({
      eventId: id,
      attendeeId: 'ann',
    });
    expect(news.find(({ type }) => type === 'event.full')?.data).toEqual({ eventId: id });
  });

  test('has news of an admission, and of each correction of its time', async ({ db }) => {
    const { id } = await insertEvent(db, 'acme', namedOnly('Fair'));
    for (const attendeeId of ['ann', 'bob'])
      await registerAttendee(db, { companyId: 'acme', eventId: id, attendeeId });
    const set = (attendee_id: string, checked_in_at: string | null) =>
      db('attendees').where({ event_id: id, attendee_id }).update({ checked_in_at });
    await set('ann', '2027-05-04T09:00:00.123Z');
    await set('ann', '2027-05-04T09:00:00.123Z');
    await set('ann', '2027-05-04T08:00:00Z');
    await set('ann', null);
    await set('bob', '2027-05-04T10:00:00+02:00');
    const news = (await newsOf(db, id)).filter(({ type }) => type.startsWith('attendee.check'));
    const data = (attendeeId: string, checkedInAt: string | null) => ({
      eventId: id,
      attendeeId,
      checkedInAt,
    });
    expect(news.map(({ company_id, type, data }) => [company_id, type, data])).toEqual([
      ['acme', 'attendee.checked_in', data('ann', '2027-05-04T09:00:00.123Z')],
      ['acme', 'attendee.checkin_corrected', data('ann', '2027-05-04T08:00:00.000Z')],
      ['acme', 'attendee.checkin_corrected', data('ann', null)],
      ['acme', 'attendee.checked_in', data('bob', '2027-05-04T08:00:00.000Z')],
    ]);
  });

  test('is full once, until it was not', async ({ db }) => {
    const { id } = await insertEvent(db, 'acme', { ...namedOnly('Fair'), maxAttendees: 0 });
    const set = (maxAttendees: number) =>
      db.transaction((tx) => updateEvent(tx, 'acme', id, { ...namedOnly('Fair'), maxAttendees }));
    await set(0);
    await set(1);
    await set(0);
    await set(1);
    await db.transaction((tx) => deleteAttendee(tx, 'acme', id, 'nobody'));
    const types = await typesOf(db, id);
    expect(types.filter((type) => type === 'event.full')).toHaveLength(2);
    expect(types.filter((type) => type === 'event.updated')).toHaveLength(4);
  });

  test('that goes to another company is gone for the one and new for the other', async ({ db }) => {
    const { id } = await insertEvent(db, 'acme', namedOnly('Fair'));
    await db('events').where({ id }).update({ company_id: 'globex' });
    const news = await newsOf(db, id);
    expect(news.map(({ company_id, type }) => [company_id, type])).toEqual([
      ['acme', 'event.created'],
      ['acme', 'event.deleted'],
      ['globex', 'event.created'],
    ]);
  });

  test('whose attendees a worker deletes later has news of each', async ({ db }) => {
    const { id } = await insertEvent(db, 'acme', namedOnly('Fair'));
    await registerAttendee(db, { companyId: 'acme', eventId: id, attendeeId: 'ann' });
    await db('events').where({ id }).update({ total_attendees: 10_001 });
    await db.transaction((tx) => deleteEvent(tx, 'acme', id));
    expect(await typesOf(db, id)).not.toContain('attendee.removed');
    await purgeAttendees(db);
    expect(await typesOf(db, id)).toEqual(expect.arrayContaining(['event.deleted', 'attendee.removed']));
  });
});
