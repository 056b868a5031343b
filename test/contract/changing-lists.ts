import type { Knex } from 'knex';
import { setArchived, updateRwa } from '../../src/rwa/assets/rwa-change-store.ts';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { addNfts, addRwa, contractAddress, markMinted, recipient, serviceVault } from '../rwa/samples.ts';
import type { Client } from '../support/service.ts';

/** A company of its own, and its caller. */
export type Scene = { readonly db: Knex; readonly client: Client; readonly companyId: string };

/** A list, and what may happen to it while it is walked. */
export type ChangingList = {
  /** Its address with its filters; further parameters may follow. */
  readonly path: string;
  /** Ids of the rows that exist at the start, in the documented order of the list: those that match, and others. */
  readonly order: readonly string[];
  readonly rows: readonly string[];
  /** Adds rows on both sides of a row, next to it and far from it, where rows can be added. @returns their ids */
  add(beside: string): Promise<Added>;
  /** Changes a row that matches, which goes on matching. */
  readonly touch?: (id: string) => Promise<unknown>;
  /** Takes a row away, or out of what matches. */
  readonly remove?: (id: string) => Promise<unknown>;
  /** Lets a row match that did not. */
  readonly wake?: (id: string) => Promise<unknown>;
};
type Added = { readonly before: readonly string[]; readonly behind: readonly string[] };

type Changes = Pick<ChangingList, 'touch' | 'remove' | 'wake'>;

/** Takes every third row out of a list into which rows can come back. @returns the rows that match then */
async function rowsOf(order: readonly string[], { wake, remove }: Changes): Promise<readonly string[]> {
  if (wake === undefined) return order;
  for (const [index, id] of order.entries()) if (index % 3 === 1) await remove?.(id);
  return order.filter((_, index) => index % 3 !== 1);
}

const eventPath = '/events/v1/api/event';
let made = 0;

/** Ids that no other is greater or less than, not even those that were made before. */
function extremeIds() {
  made += 1;
  const [greatest, least] = [made, 0xffffffffffff - made].map((n) => n.toString(16).padStart(12, '0'));
  return { greatest: `ffffffff-ffff-4fff-bfff-${greatest}`, least: `00000000-0000-4000-8000-${least}` };
}

/** Copies a row to the moments around its own: the same one, with the least and the greatest id, the next ones, and far ones. */
async function addAround(db: Knex, table: 'events' | 'rwas', columns: readonly string[], beside: string) {
  const copy = async (id: string, shift: string) => {
    await db.raw(
      `INSERT INTO ${table} (id, company_id, name, created_at, ${columns.join()})
       SELECT ?, company_id, 'added', created_at + ?::interval, ${columns.join()} FROM ${table} WHERE id = ?`,
      [id, shift, beside],
    );
    return id;
  };
  const { greatest, least } = extremeIds();
  const newest = await copy(extremeIds().least, '100 years');
  return {
    older: [
      await copy(least, '0'),
      await copy(extremeIds().greatest, '-1 microsecond'),
      await copy(extremeIds().least, '-100 years'),
    ],
    newer: [await copy(greatest, '0'), await copy(extremeIds().least, '1 microsecond'), newest],
  };
}

const rwaColumns = ['type', 'chain_id', 'contract_address', 'is_buyable', 'is_claimable'];

/** Several of one moment, finer than a millisecond. */
async function givenRwas({ db, companyId }: Scene): Promise<string[]> {
  await db.raw(
    `INSERT INTO rwas (number, company_id, name, type, chain_id, contract_address, is_claimable, created_at)
     SELECT new_rwa_number(now() + n * interval '1 millisecond'), ?, 'rwa ' || n, 'whisky', 31337, ?, true, timestamptz '2026-01-01' + n / 3 * interval '1 microsecond'
     FROM generate_series(1, 18) AS n`,
    [companyId, contractAddress],
  );
  return db('rwas').where({ company_id: companyId }).orderBy(['created_at', 'id']).pluck('id');
}

async function rwaList(scene: Scene, query: string, changes: Changes): Promise<ChangingList> {
  const { db } = scene;
  const order = await givenRwas(scene);
  return {
    path: `/v1/api/rwa?${query}`,
    order,
    rows: await rowsOf(order, changes),
    ...changes,
    async add(beside) {
      const { older, newer } = await addAround(db, 'rwas', rwaColumns, beside);
      return { before: older, behind: newer };
    },
  };
}

async function eventList({ db, client, companyId }: Scene, query: string, changes: Changes) {
  await db.raw(
    `INSERT INTO events (company_id, name, created_at, start_date)
     SELECT ?, 'event ' || n, timestamptz '2026-01-01' + n / 3 * interval '1 microsecond', timestamptz '2027-06-01'
     FROM generate_series(1, 18) AS n`,
    [companyId],
  );
  const newest = ['created_at', 'id'].map((column) => ({ column, order: 'desc' }));
  const order: string[] = await db('events').where({ company_id: companyId }).orderBy(newest).pluck('id');
  const list: ChangingList = {
    path: `${eventPath}?${query}`,
    order,
    rows: await rowsOf(order, changes),
    touch: (id) => client.patch(`${eventPath}/${id}`).send({ location: 'Ely' }).expect(200),
    ...changes,
    async add(beside) {
      const { older, newer } = await addAround(db, 'events', ['start_date'], beside);
      return { before: newer, behind: older };
    },
  };
  return list;
}

const removeEvent =
  ({ client }: Scene) =>
  (id: string) =>
    client.delete(`${eventPath}/${id}`).expect(204);
const startAt =
  ({ client }: Scene, startDate: string) =>
  (id: string) =>
    client.patch(`${eventPath}/${id}`).send({ startDate }).expect(200);

async function attendeeList({ client }: Scene): Promise<ChangingList> {
  const { body: event } = await client.post(eventPath).send({ name: 'Spring fair' }).expect(201);
  const at = `${eventPath}/${event.id}/attendees`;
  const register = async () => {
    made += 1;
    const attendeeId = `user ${made}`;
    await client.post(at).send({ attendeeId }).expect(201);
    return attendeeId;
  };
  const order: string[] = [];
  while (order.length < 18) order.push(await register());
  return {
    path: `${at}?`,
    order,
    rows: order,
    remove: (id) => client.delete(`${at}/${encodeURIComponent(id)}`).expect(204),
    add: async () => ({ before: [], behind: [await register()] }),
  };
}

/** NFTs of three RWAs, to each of which further ones are added at its end. */
async function nftList(scene: Scene, of: 'one' | 'all', query: string, changes: Changes) {
  const { db, client, companyId } = scene;
  const rwas: OperatorRwa[] = [];
  for (let number = 0; number < 3; number += 1) rwas.push(await addRwa(db, companyId));
  const listed = of === 'all' ? rwas : rwas.slice(1, 2);
  for (const rwa of listed) await addNfts(db, serviceVault, rwa, 18 / listed.length);
  const path = of === 'all' ? '/v1/api/nft' : `/v1/api/rwa/${listed[0]?.id}/nfts`;
  const nfts = () =>
    db('nfts')
      .whereIn(
        'rwa_id',
        listed.map(({ id }) => id),
      )
      .orderBy(['rwa_number', 'serial']);
  const order: string[] = await nfts().pluck('id');
  const list: ChangingList = {
    path: `${path}?${query}`,
    order,
    rows: await rowsOf(order, changes),
    ...changes,
    async add(beside) {
      const added: string[] = [];
      for (const { id } of rwas) {
        const { body } = await client.post(`/v1/api/rwa/${id}/nfts`).send({ count: 1 }).expect(200);
        added.push(body.nfts[0].id);
      }
      const all: string[] = await nfts().pluck('id');
      const at = all.indexOf(beside);
      const isAdded = (id: string) => added.includes(id);
      return { before: all.slice(0, at).filter(isAdded), behind: all.slice(at).filter(isAdded) };
    },
  };
  return list;
}

const changeNft =
  ({ db }: Scene, values: object) =>
  (id: string) =>
    db('nfts').where({ id }).update(values);
const claim =
  ({ db }: Scene) =>
  (id: string) =>
    markMinted(db, id);
const archive =
  ({ db, companyId }: Scene, isArchived: boolean) =>
  (id: string) =>
    db.transaction((tx) => setArchived(tx, { companyId, id }, isArchived));
const changeRwa =
  ({ db, companyId }: Scene, change: object) =>
  (id: string) =>
    db.transaction((tx) => updateRwa(tx, { companyId, id }, change));

const since = '2026-01-01T00:00:00Z';
const longAgo = { updated_at: new Date('2025-01-01T00:00:00Z') };

/** NFTs that change while it is walked what changed. */
const changedNfts = (scene: Scene, of: 'one' | 'all') =>
  nftList(scene, of, `updatedSince=${since}`, {
    remove: changeNft(scene, longAgo),
    wake: changeNft(scene, { data: { woken: true } }),
    touch: claim(scene),
  });
const unclaimedNfts = (scene: Scene, of: 'one' | 'all') =>
  nftList(scene, of, 'claimed=false', {
    remove: claim(scene),
    touch: changeNft(scene, { mint_state: 'queued', recipient }),
  });
const changedUnclaimedNfts = (scene: Scene, of: 'one' | 'all') =>
  nftList(scene, of, `claimStatus=unclaimed&updatedSince=${since}`, {
    remove: changeNft(scene, { mint_state: 'failed', mint_error: 'refused', recipient }),
    wake: changeNft(scene, { mint_state: 'unclaimed', mint_error: null, recipient: null }),
    touch: changeNft(scene, { data: { seen: true } }),
  });

/** Every list of ours with a cursor, with the filters that rows come under and leave. */
export const changingLists: Readonly<Record<string, (scene: Scene) => Promise<ChangingList>>> = {
  'RWAs, which are archived and put back': (scene) =>
    rwaList(scene, '', {
      remove: archive(scene, true),
      wake: archive(scene, false),
      touch: changeRwa(scene, { name: 'renamed' }),
    }),
  'RWAs with archived ones': (scene) =>
    rwaList(scene, 'includeArchived=true', { touch: archive(scene, true) }),
  'RWAs of a type': (scene) =>
    rwaList(scene, 'type=whisky', {
      remove: changeRwa(scene, { type: 'rum' }),
      wake: changeRwa(scene, { type: 'whisky' }),
      touch: changeRwa(scene, { isBuyable: true }),
    }),
  'RWAs that can be claimed': (scene) =>
    rwaList(scene, 'isClaimable=true&isBuyable=false', {
      remove: changeRwa(scene, { isBuyable: true }),
      wake: changeRwa(scene, { isBuyable: false }),
      touch: changeRwa(scene, { type: 'rum' }),
    }),
  'NFTs, which are claimed': (scene) => nftList(scene, 'all', '', { touch: claim(scene) }),
  'NFTs that are not claimed': (scene) => unclaimedNfts(scene, 'all'),
  'NFTs that changed lately': (scene) => changedNfts(scene, 'all'),
  'NFTs that changed lately, of one state': (scene) => changedUnclaimedNfts(scene, 'all'),
  'NFTs of an RWA, which are claimed': (scene) => nftList(scene, 'one', '', { touch: claim(scene) }),
  'NFTs of an RWA that are not claimed': (scene) => unclaimedNfts(scene, 'one'),
  'NFTs of an RWA that changed lately': (scene) => changedNfts(scene, 'one'),
  'NFTs of an RWA that changed lately, of one state': (scene) => changedUnclaimedNfts(scene, 'one'),
  'events, which are deleted': (scene) => eventList(scene, '', { remove: removeEvent(scene) }),
  'events that start from a moment on, which are moved': (scene) =>
    eventList(scene, 'startsFrom=2027-01-01', {
      remove: startAt(scene, '2026-01-01'),
      wake: startAt(scene, '2027-02-01'),
      touch: startAt(scene, '2028-01-01'),
    }),
  'events of some time, which are moved and deleted': (scene) =>
    eventList(scene, 'startsFrom=2027-01-01&startsTo=2027-12-31', {
      remove: removeEvent(scene),
      touch: startAt(scene, '2027-01-01'),
    }),
  'attendees, who leave': attendeeList,
};
