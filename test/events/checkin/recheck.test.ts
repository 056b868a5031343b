import type { Knex } from 'knex';
import { expect } from 'vitest';
import { findIneligible, type Reading } from '../../../src/events/checkin/recheck.ts';
import { findEvent } from '../../../src/events/event-store.ts';
import { addRwa } from '../../rwa/samples.ts';
import type { Client, TestService } from '../../support/service.ts';
import {
  addDeadNetwork,
  addLedger,
  attendeesPath,
  enter,
  givenDoor,
  givenHolder,
  newWallet,
  test,
} from '../doors.ts';
import { eventPath, givenAttendees, heldUp, scansOf } from '../requests.ts';

const scan = (client: Client, id: string, ...texts: string[]) =>
  client.post(`${eventPath}/${id}/checkin`).send(scansOf(...texts));
type Result = { attendeeId: string; status: string; checkedInAt: string | null };
const statusesOf = async (client: Client, id: string, ...items: string[]): Promise<string[]> => {
  const { body } = await scan(client, id, ...items).expect(200);
  for (const { status, checkedInAt } of body.items as Result[])
    if (status === 'no_longer_eligible') expect(checkedInAt).toBeNull();
  return body.items.map(({ status }: Result) => status);
};
const admitted = async (client: Client, id: string): Promise<string[]> => {
  const { body } = await client.get(attendeesPath(id)).expect(200);
  return body.flatMap(({ attendeeId, checkedInAt }: Result) => (checkedInAt === null ? [] : [attendeeId]));
};
/** A process that has cached nothing: readings are up to a minute old. */
const fresh = async (service: TestService) => (await service.twin()).as(service.keys.acme);
const recheck = { recheckAtCheckin: true };
const register = (client: Client, id: string, attendeeId: string, wallet: string) =>
  enter(client, id, { attendeeId, wallet }).expect(201);
/** Nobody can read it, since its network is not registered. */
const unreadable = { contractRequiredToAttend: ['eip155:424242:0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'] };

test('admits nobody whose token was sold, the others of the request, and the seller who got it back', async ({
  acme,
  doors,
  service,
}) => {
  const [seller, keeper, buyer] = [newWallet().address, newWallet().address, newWallet().address];
  const listed = await doors.deploy('Listed');
  await doors.send('Listed', listed, 'mint', seller, 7);
  await doors.send('Listed', listed, 'mint', keeper, 8);
  const id = await givenDoor(acme, [listed], recheck);
  await register(acme, id, 'seller', seller);
  await register(acme, id, 'keeper', keeper);
  await givenAttendees(acme, id, 'walker');
  await doors.transfer(listed, seller, buyer, 7);
  const door = await fresh(service);
  expect(await statusesOf(door, id, 'seller', 'nobody', 'walker', 'keeper', 'seller', 'keeper')).toEqual([
    ...['no_longer_eligible', 'unknown', 'admitted', 'admitted', 'no_longer_eligible', 'already_admitted'],
  ]);
  expect(await admitted(acme, id)).toEqual(['keeper', 'walker']);
  await doors.transfer(listed, buyer, seller, 7);
  const later = await fresh(service);
  expect(await statusesOf(later, id, 'seller')).toEqual(['admitted']);
  await doors.transfer(listed, seller, buyer, 7);
  expect(await statusesOf(await fresh(service), id, 'seller')).toEqual(['already_admitted']);
});

test('checks nobody at an event that does not ask, and reads no chain for it', async ({ acme, doors }) => {
  const { wallet: address, listed } = await givenHolder(doors, 7);
  const id = await givenDoor(acme, [listed]);
  await register(acme, id, 'ann', address);
  await acme.patch(`${eventPath}/${id}`).send(unreadable).expect(200);
  expect(await statusesOf(acme, id, 'ann')).toEqual(['admitted']);
});

test('wants the tokens that the admission has consumed, and no others', async ({ acme, doors, service }) => {
  const [wallet, buyer] = [newWallet().address, newWallet().address];
  // Token 7 of the other contract is not the token 7 that was consumed.
  const [listed, other] = [await doors.deploy('Listed'), await doors.deploy('Listed')];
  for (const token of [7, 8, 9]) await doors.send('Listed', listed, 'mint', wallet, token);
  await doors.send('Listed', other, 'mint', wallet, 7);
  const id = await givenDoor(acme, [listed, other], { ...recheck, oneAdmissionPerToken: true });
  for (const user of ['seven', 'eight']) await register(acme, id, user, wallet);
  await doors.transfer(listed, wallet, buyer, 7);
  const door = await fresh(service);
  expect(await statusesOf(door, id, 'seven', 'eight')).toEqual(['no_longer_eligible', 'admitted']);
  await doors.transfer(listed, buyer, wallet, 7);
  expect(await statusesOf(await fresh(service), id, 'seven')).toEqual(['admitted']);
});

test('asks for consumed tokens by their ids, where the contract lists none', async ({
  acme,
  doors,
  service,
}) => {
  const [wallet, buyer] = [newWallet().address, newWallet().address];
  const unlisted = await doors.deploy('Unlisted');
  for (const token of [7, 8]) await doors.send('Unlisted', unlisted, 'mint', wallet, token);
  const id = await givenDoor(acme, [unlisted], { ...recheck, oneAdmissionPerToken: true });
  for (const token of ['7', '8'])
    await enter(acme, id, { attendeeId: token, wallet, tokenIds: [token] }).expect(201);
  await doors.transfer(unlisted, wallet, buyer, 7);
  expect(await statusesOf(await fresh(service), id, '7', '8')).toEqual(['no_longer_eligible', 'admitted']);
});

test('finds a consumed token of an RWA among more than are listed', async ({ acme, db, service }) => {
  const wallets = [newWallet().address, newWallet().address] as const;
  const { id: rwaId } = await addRwa(db, service.companies.acme);
  for (const count of [100, 2]) await acme.post(`/v1/api/rwa/${rwaId}/nfts`).send({ count }).expect(200);
  await addLedger(db, rwaId);
  const give = (owner: string, from: number, to: number) =>
    db('nfts').where({ rwa_id: rwaId }).whereBetween('serial', [from, to]).update({ owner });
  await give(wallets[0], 101, 101);
  await give(wallets[1], 102, 102);
  const id = await givenDoor(acme, [rwaId], { ...recheck, oneAdmissionPerToken: true });
  for (const wallet of wallets) await register(acme, id, wallet, wallet);
  await give(wallets[0], 1, 100);
  await give(newWallet().address, 102, 102);
  const door = await fresh(service);
  expect(await statusesOf(door, id, ...wallets)).toEqual(['admitted', 'no_longer_eligible']);
});

test('wants what the event requires now, also when that changes while the chains are read', async ({
  acme,
  doors,
  service,
}) => {
  const { address } = newWallet();
  const [own, foreign] = [await doors.deploy('Listed'), await doors.deploy('Listed')];
  await doors.send('Listed', own, 'mint', address, 7);
  const id = await givenDoor(acme, [own], recheck);
  await register(acme, id, 'ann', address);
  const change = async () => {
    await acme
      .patch(`${eventPath}/${id}`)
      .send({ contractRequiredToAttend: [foreign] })
      .expect(200);
  };
  const send = () => statusesOf(acme, id, 'ann');
  const seen = await heldUp(service, { table: 'attendees', waiting: 1 }, send, change);
  expect(seen).toEqual(['no_longer_eligible']);
});

test('repeats its answer for an Idempotency-Key without reading any chain', async ({ acme, doors }) => {
  const { wallet: address, listed } = await givenHolder(doors, 7);
  const id = await givenDoor(acme, [listed], recheck);
  await register(acme, id, 'ann', address);
  const send = () => scan(acme, id, 'ann').set('idempotency-key', `recheck-${id}`).expect(200);
  const first = await send();
  await acme.patch(`${eventPath}/${id}`).send(unreadable).expect(200);
  const again = await send();
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
  expect(again.body.items).toMatchObject([{ status: 'admitted' }]);
});

test('answers 503 and admits nobody while the chains cannot be read, and the same request admits later', async ({
  acme,
  db,
  doors,
  service,
}) => {
  const { wallet: address, listed } = await givenHolder(doors, 7);
  const id = await givenDoor(acme, [listed], recheck);
  await register(acme, id, 'ann', address);
  await givenAttendees(acme, id, 'walker', 'late');
  await addDeadNetwork(db);
  const entries = (...contractRequiredToAttend: string[]) =>
    acme.patch(`${eventPath}/${id}`).send({ contractRequiredToAttend }).expect(200);
  await entries(listed, `eip155:31338:${listed}`);
  const door = await fresh(service);
  const send = () => scan(door, id, 'ann', 'walker').set('idempotency-key', `dead-${id}`);
  const { body, headers } = await send().expect(503);
  expect(body).toMatchObject({ code: 'eligibility_unavailable' });
  expect(body.detail).toContain('no node of the network with chainId 31338 answers');
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(await admitted(acme, id)).toEqual([]);
  // Nothing has to be read for these.
  expect(await statusesOf(door, id, 'late', 'nobody')).toEqual(['admitted', 'unknown']);
  await entries(listed);
  expect((await send().expect(200)).body.items).toMatchObject([
    { status: 'admitted' },
    { status: 'admitted' },
  ]);
  await acme.patch(`${eventPath}/${id}`).send(unreadable).expect(200);
  expect(await statusesOf(door, id, 'ann')).toEqual(['already_admitted']);
});

test('takes no reading of a registration for that of another one of the same user', async ({
  acme,
  db,
  service,
}) => {
  const id = await givenDoor(acme, [], recheck);
  const event = await findEvent(db, service.companies.acme, id);
  if (event === undefined) throw new Error('the event is not there');
  const again = { attendeeId: 'ann', ticketId: '2', checkedInAt: null, wallet: newWallet().address };
  const reading = { version: event.version, tickets: new Set(['1']), ineligible: new Set<string>() };
  const read = () => Promise.reject(new Error('nothing is read here'));
  const holdings = { read, countReadings: () => 0, close: () => {} };
  const lacks = () => new Error('unread');
  await db.transaction(async (tx) => {
    const rechecks = { holdings, reading, lacks, field: '/scans' } as const;
    const find = (ticketId: string) => findIneligible(tx, event, [{ ...again, ticketId }], rechecks);
    expect(await find('1')).toEqual(new Set());
    await expect(find('2')).rejects.toThrow('unread');
  });
});

test('400: reads no more than 400 contracts of wallets, says what a batch may have, and does not count what is cached', async ({
  acme,
  db,
  doors,
  service,
}) => {
  const { listed } = await givenHolder(doors, 7);
  // The texts differ, and each is read.
  const contracts = Array.from({ length: 100 }, (_, token) => `${listed}/${token}`);
  const id = await givenDoor(acme, [], recheck);
  const users = ['a', 'b', 'c', 'd', 'e'];
  await givenAttendees(acme, id, ...users);
  for (const user of users)
    await db('attendees').where({ event_id: id, attendee_id: user }).update({ wallet: newWallet().address });
  await acme.patch(`${eventPath}/${id}`).send({ contractRequiredToAttend: contracts }).expect(200);
  const door = await fresh(service);
  const { body } = await scan(door, id, ...users).expect(400);
  expect(body).toMatchObject({
    code: 'too_many_readings',
    detail: expect.stringMatching(
      /names 100 contracts, and 5 wallets with 5 tickets .* at most 4 of these tickets/,
    ),
    errors: [{ pointer: '/scans' }],
  });
  await db('events').where({ id }).update({ ids_in_items: true });
  const asItems = await door.post(`${eventPath}/${id}/checkin`).send({ items: users }).expect(400);
  expect(asItems.body).toMatchObject({ code: 'too_many_readings', errors: [{ pointer: '/items' }] });
  expect(await statusesOf(door, id, ...users.slice(0, 4))).toEqual(Array(4).fill('no_longer_eligible'));
  expect(await statusesOf(door, id, ...users)).toEqual(Array(5).fill('no_longer_eligible'));
});

const perToken = { oneAdmissionPerToken: true };

/** Registers users with one wallet, and lets the admission of each have consumed so many tokens of each contract. */
async function consume(
  db: Knex,
  id: string,
  wallet: string,
  users: readonly string[],
  tokens: number,
  ...of: string[]
) {
  await db('attendees').where({ event_id: id }).whereIn('attendee_id', users).update({ wallet });
  await db.raw(
    `INSERT INTO attendee_tokens (event_id, chain_id, contract, token_id, attendee_id)
     SELECT :id, 31337, c, (SELECT count(*) FROM attendee_tokens) + 1000 * u.place + n, u.name FROM unnest(:of::text[]) c, generate_series(1, :tokens::int) n,
       unnest(:users::text[]) WITH ORDINALITY AS u (name, place)`,
    { id, of, tokens, users: [...users] } as never,
  );
}

test('400: counts each token of a wallet, at its own contract alone, and always reads a single ticket', async ({
  acme,
  db,
  doors,
  service,
}) => {
  const [first, second] = [await doors.deploy('Listed'), await doors.deploy('Listed')];
  const id = await givenDoor(acme, [], recheck);
  const users = ['a', 'b', 'c', 'd', 'e'];
  await givenAttendees(acme, id, ...users, 'rich', 'x', 'y');
  const { address } = newWallet();
  await consume(db, id, address, users, 81, first);
  await acme
    .patch(`${eventPath}/${id}`)
    .send({ ...perToken, contractRequiredToAttend: [first] })
    .expect(200);
  const door = await fresh(service);
  const { body } = await scan(door, id, ...users).expect(400);
  expect(body).toMatchObject({
    code: 'too_many_readings',
    detail: expect.stringMatching(/1 wallets with 5 tickets .* at most 4 of these tickets/),
  });
  expect(await statusesOf(door, id, ...users.slice(0, 4))).toEqual(Array(4).fill('no_longer_eligible'));
  await consume(db, id, newWallet().address, ['rich'], 401, first);
  expect(await statusesOf(door, id, 'rich')).toEqual(['no_longer_eligible']);
  // Asked at both contracts, these would be 480.
  await consume(db, id, newWallet().address, ['x', 'y'], 60, first, second);
  await acme
    .patch(`${eventPath}/${id}`)
    .send({ contractRequiredToAttend: [first, second] })
    .expect(200);
  expect(await statusesOf(door, id, 'x', 'y')).toEqual(Array(2).fill('no_longer_eligible'));
});

test('compares the tokens of a wallet with those that were found in one pass over them', async ({
  acme,
  db,
  service,
}) => {
  const contract = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0';
  const id = await givenDoor(acme, [], recheck);
  const users = Array.from({ length: 20 }, (_, place) => `guest-${place}`);
  await givenAttendees(acme, id, ...users);
  const { address: wallet } = newWallet();
  await consume(db, id, wallet, users, 100, contract);
  await acme
    .patch(`${eventPath}/${id}`)
    .send({ ...perToken, contractRequiredToAttend: [contract] })
    .expect(200);
  const event = await findEvent(db, service.companies.acme, id);
  if (event === undefined) throw new Error('the event is not there');
  const owned: string[] = await db('attendee_tokens')
    .where({ event_id: id })
    .whereNot({ attendee_id: 'guest-0' })
    .pluck('token_id');
  let looks = 0;
  const tokenIds = new Proxy(owned, {
    get(of, name) {
      looks += 1;
      return Reflect.get(of, name);
    },
  });
  const place = {
    entry: contract,
    standard: 'ERC721',
    chainId: '31337',
    contract,
    tokenId: null,
    block: null,
  } as const;
  const findings = new Map([[contract, { ...place, balance: 1_900n, tokenIds }]]);
  const holdings = { read: async () => findings, countReadings: () => 0, close: () => {} };
  let work: (() => Promise<Reading>) | undefined;
  const lacks = (read: () => Promise<Reading>) => {
    work = read;
    return new Error('unread');
  };
  const registrations = users.map((attendeeId) => ({
    attendeeId,
    ticketId: attendeeId,
    checkedInAt: null,
    wallet,
  }));
  const find = (tx: Knex.Transaction) =>
    findIneligible(tx, event, registrations, { holdings, reading: undefined, lacks, field: '/scans' });
  await expect(db.transaction(find)).rejects.toThrow('unread');
  expect((await work?.())?.ineligible).toEqual(new Set(['guest-0']));
  expect(looks).toBeLessThan(10 * owned.length);
});
