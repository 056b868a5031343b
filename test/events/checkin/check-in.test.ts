import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import { createTickets } from '../../../src/events/checkin/tickets.ts';
import { issueKey } from '../../../src/keys/key-store.ts';
import { test } from '../../support/fixtures.ts';
import type { Client } from '../../support/service.ts';
import { eventPath, givenAttendees, givenEvent, makeOld, scansOf } from '../requests.ts';

const at = (id: string) => `${eventPath}/${id}/checkin`;
const scan = (client: Client, id: string, ...texts: string[]) => client.post(at(id)).send(scansOf(...texts));
const sendItems = (client: Client, id: string, ...items: string[]) => client.post(at(id)).send({ items });
const ticketOf = async (client: Client, id: string, attendeeId: string): Promise<string> =>
  (await client.get(`${eventPath}/${id}/attendees/${attendeeId}/ticket`).expect(200)).body.ticket;
const listed = async (client: Client, id: string) =>
  (await client.get(`${eventPath}/${id}/attendees`).expect(200)).body;

type Result = { attendeeId: string | null; by: string | null; status: string; checkedInAt: string | null };
const statuses = ({ items }: { items: Result[] }) => items.map(({ status }) => status);
const nobody = {
  attendeeId: null,
  by: null,
  status: 'unknown',
  scanId: null,
  checkedInAt: null,
  checkedInGate: null,
  label: null,
  inside: null,
};

describe('200', () => {
  test('admits by user id and by ticket, in the order of the scans, and shows when', async ({ acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob', 'cid');
    expect(await listed(acme, id)).toMatchObject([{ checkedInAt: null }, {}, {}]);
    const ticket = await ticketOf(acme, id, 'bob');
    const { body } = await scan(acme, id.toUpperCase(), 'nobody', ticket, 'ann').expect(200);
    const attendees = await listed(acme, id);
    const scanId = expect.any(String);
    const admitted = { status: 'admitted', scanId, checkedInGate: null, label: null, inside: true };
    expect(body.items).toEqual([
      nobody,
      { attendeeId: 'bob', by: 'ticket', ...admitted, checkedInAt: attendees[1].checkedInAt },
      { attendeeId: 'ann', by: 'attendeeId', ...admitted, checkedInAt: attendees[0].checkedInAt },
    ]);
    expect(attendees).toMatchObject([
      { checkedInAt: expect.any(String) },
      { checkedInAt: expect.any(String) },
      { checkedInAt: null },
    ]);
    const entries = await db('audit_log').where({ subject: id, action: 'attendee.checkin' }).select();
    expect(entries.map(({ details }) => details)).toEqual(
      expect.arrayContaining([{ attendeeId: 'ann' }, { attendeeId: 'bob' }]),
    );
    expect(entries).toHaveLength(2);
  });

  test('admits once: within a request, and in a later one with the first time', async ({ acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const ticket = await ticketOf(acme, id, 'ann');
    const first = await scan(acme, id, 'ann', ticket, 'ann').expect(200);
    expect(statuses(first.body)).toEqual(['admitted', 'already_admitted', 'already_admitted']);
    const second = await scan(acme, id, ticket).expect(200);
    expect(second.body.items).toEqual([{ ...first.body.items[1] }]);
    expect(new Set(first.body.items.map(({ checkedInAt }: Result) => checkedInAt)).size).toBe(1);
    expect(await db('audit_log').where({ subject: id, action: 'attendee.checkin' })).toHaveLength(1);
  });

  test('knows no ticket of another event, of a removed or re-added user, or of somebody else', async ({
    acme,
    globex,
    service,
  }) => {
    const { id } = await givenEvent(acme);
    const { id: other } = await givenEvent(acme);
    const { id: foreign } = await givenEvent(globex);
    await givenAttendees(acme, id, 'ann', 'bob');
    await givenAttendees(acme, other, 'ann');
    await givenAttendees(globex, foreign, 'ann');
    const removed = await ticketOf(acme, id, 'bob');
    await acme.delete(`${eventPath}/${id}/attendees/bob`).expect(204);
    expect(statuses((await scan(acme, id, removed)).body)).toEqual(['unknown']);
    await givenAttendees(acme, id, 'bob');
    const added = await ticketOf(acme, id, 'bob');
    expect(added).not.toBe(removed);
    const ticket = await ticketOf(acme, id, 'ann');
    const [header, claims, signature] = ticket.split('.') as [string, string, string];
    const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    const stranger = createTickets(new Map([['k', randomBytes(32)]]));
    const { ticketId } = (await acme.get(`${eventPath}/${id}/attendees/ann/ticket`).expect(200)).body;
    const own = { eventId: id, attendeeId: 'ann', ticketId, expiresAt: new Date('2999-01-01'), label: null };
    const { sign } = createTickets(service.parts.config.SECRET_KEYS);
    const texts = [
      await ticketOf(acme, other, 'ann'),
      await ticketOf(globex, foreign, 'ann'),
      removed,
      await stranger.sign(own),
      await sign({ ...own, eventId: other }),
      await sign({ ...own, attendeeId: 'bob' }),
      await sign({ ...own, expiresAt: new Date(Date.now() - 1_000) }),
      `${none}.${claims}.`,
      `${none}.${claims}.${signature}`,
      `${header}.${claims}.${'A'.repeat(86)}`,
      `${header}.${Buffer.from('{}').toString('base64url')}.${signature}`,
      ticket.slice(0, -1),
      'x'.repeat(2_048),
      "'; DROP TABLE attendees; --",
    ];
    const { body } = await scan(acme, id, ...texts, ticket, added).expect(200);
    expect(statuses(body)).toEqual([...texts.map(() => 'unknown'), 'admitted', 'admitted']);
    expect(body.items.slice(0, texts.length)).toEqual(texts.map(() => nobody));
  });

  test('knows no ticket that expired', async ({ acme }) => {
    const { id } = await givenEvent(acme, { startDate: '2020-01-01', endDate: '2020-01-02' });
    await givenAttendees(acme, id, 'ann');
    const ticket = await ticketOf(acme, id, 'ann');
    expect(statuses((await scan(acme, id, ticket, 'ann').expect(200)).body)).toEqual(['unknown', 'admitted']);
  });

  test('takes two hundred scans, and lets a thousand scans by two scanners admit each attendee once', async ({
    acme,
    service,
    db,
  }) => {
    const { id } = await givenEvent(acme);
    const users = Array.from({ length: 1_000 }, (_, index) => `user-${String(index).padStart(4, '0')}`);
    await db('attendees').insert(
      users.map((attendee_id) => ({ company_id: service.companies.acme, event_id: id, attendee_id })),
    );
    await db('events').where({ id }).update({ total_attendees: users.length });
    const batches = Array.from({ length: 5 }, (_, index) => users.slice(index * 200, (index + 1) * 200));
    const twin = await service.twin();
    const other = twin.as(service.keys.acme);
    const replies = await Promise.all(
      batches.flatMap((batch) => [scan(acme, id, ...batch), scan(other, id, ...batch.toReversed())]),
    );
    const results: Result[] = replies.flatMap(({ body }) => body.items);
    const ofStatus = (status: string) => results.filter((result) => result.status === status);
    expect([ofStatus('admitted').length, ofStatus('already_admitted').length]).toEqual([1_000, 1_000]);
    expect(new Set(ofStatus('admitted').map(({ attendeeId }) => attendeeId)).size).toBe(1_000);
    const times = new Map(
      ofStatus('admitted').map(({ attendeeId, checkedInAt }) => [attendeeId, checkedInAt]),
    );
    for (const { attendeeId, checkedInAt } of ofStatus('already_admitted'))
      expect(checkedInAt).toBe(times.get(attendeeId));
    expect(await db('audit_log').where({ subject: id, action: 'attendee.checkin' })).toHaveLength(1_000);
  });

  test('lets fifty scanners with one ticket admit once', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const ticket = await ticketOf(acme, id, 'ann');
    const replies = await Promise.all(Array.from({ length: 50 }, () => scan(acme, id, ticket).expect(200)));
    const seen = replies.flatMap(({ body }) => statuses(body)).toSorted();
    expect(seen).toEqual(['admitted', ...Array.from({ length: 49 }, () => 'already_admitted')]);
  });

  test('says of an item that is a user id that a ticket is required, and admits by the ticket alone', async ({
    acme,
    db,
  }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const ticket = await ticketOf(acme, id, 'ann');
    const { body } = await sendItems(acme, id, 'ann', 'bob', 'nobody', ticket, 'ann').expect(200);
    const required = { by: 'attendeeId', status: 'ticket_required' };
    const at = expect.any(String);
    expect(body.items).toMatchObject([
      { attendeeId: 'ann', ...required, checkedInAt: at },
      { attendeeId: 'bob', ...required, checkedInAt: null },
      nobody,
      { attendeeId: 'ann', by: 'ticket', status: 'admitted', checkedInAt: at },
      { attendeeId: 'ann', ...required, checkedInAt: at },
    ]);
    const entries = await db('audit_log').where({ subject: id, action: 'attendee.checkin' }).select();
    expect(entries.map(({ details }) => details)).toEqual([{ attendeeId: 'ann' }]);
  });

  test('goes on taking user ids as items for an event of an earlier release', async ({ acme, service }) => {
    const { id } = await givenEvent(acme);
    await makeOld(service, id);
    await givenAttendees(acme, id, 'ann', 'bob');
    const { body } = await sendItems(acme, id, 'ann', await ticketOf(acme, id, 'bob'), 'nobody').expect(200);
    expect(body.items).toMatchObject([
      { attendeeId: 'ann', by: 'attendeeId', status: 'admitted' },
      { attendeeId: 'bob', by: 'ticket', status: 'admitted' },
      nobody,
    ]);
  });

  test('admits nobody by a user id where the event has ticketsOnly, however old it is', async ({
    acme,
    service,
  }) => {
    const { id } = await givenEvent(acme, { ticketsOnly: true });
    await makeOld(service, id);
    await givenAttendees(acme, id, 'ann');
    const ticket = await ticketOf(acme, id, 'ann');
    for (const send of [scan, sendItems])
      expect(statuses((await send(acme, id, 'ann', 'nobody')).body)).toEqual(['ticket_required', 'unknown']);
    expect(statuses((await scan(acme, id, ticket)).body)).toEqual(['admitted']);
    await acme.patch(`${eventPath}/${id}`).send({ ticketsOnly: false }).expect(200);
    expect(statuses((await scan(acme, id, 'ann')).body)).toEqual(['already_admitted']);
  });

  test('takes no user id for a ticket, and no ticket for a user id', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const ticket = await ticketOf(acme, id, 'ann');
    const scans = [{ ticket: 'ann' }, { attendeeId: ticket }];
    const { body } = await acme.post(at(id)).send({ scans }).expect(200);
    expect(body.items).toEqual([nobody, nobody]);
  });

  test('removes white space and line ends around tickets and user ids', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob', 'cid', 'dan');
    const ticket = await ticketOf(acme, id, 'ann');
    expect(statuses((await sendItems(acme, id, `${ticket}\r\n`)).body)).toEqual(['admitted']);
    const other = await ticketOf(acme, id, 'bob');
    const { body } = await scan(acme, id, `\t${other} \n`, 'cid\r', '\u00a0dan\u2028').expect(200);
    expect(body.items).toMatchObject([
      { attendeeId: 'bob', by: 'ticket', status: 'admitted' },
      { attendeeId: 'cid', by: 'attendeeId', status: 'admitted' },
      { attendeeId: 'dan', by: 'attendeeId', status: 'admitted' },
    ]);
  });

  test('finds a user id with white space of its own before that without', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'ann\n');
    const { body } = await scan(acme, id, 'ann\n', 'ann\r\n', ' \n').expect(200);
    expect(body.items).toMatchObject([
      { attendeeId: 'ann\n', status: 'admitted' },
      { attendeeId: 'ann', status: 'admitted' },
      nobody,
    ]);
  });
});

describe('400', () => {
  test.for([
    [
      'items and scans',
      { items: ['ann'], scans: [{ attendeeId: 'ann' }] },
      { pointer: '/scans', message: 'scans must be absent where there are items' },
    ],
    ['neither', {}, { pointer: '/items', message: 'items or scans is required' }],
    ['no scan', { scans: [] }, { pointer: '/scans' }],
    ['201 scans', { scans: Array(201).fill({ ticket: 'a' }) }, { pointer: '/scans' }],
    ['an unknown field', { scans: [{ ticket: 'a', name: 'b' }] }, { pointer: '/scans/0/name' }],
    [
      'a scan of nothing',
      { scans: [{}] },
      { pointer: '/scans/0', message: 'scans/0 must have either ticket or attendeeId' },
    ],
    [
      'a scan of two texts',
      { scans: [{ ticket: 'a' }, { ticket: 'a', attendeeId: 'b' }] },
      { pointer: '/scans/1', message: 'scans/1 must have either ticket or attendeeId' },
    ],
  ] as const)('rejects %s', async ([_what, body, fault], { acme }) => {
    const { id } = await givenEvent(acme);
    const rejected = await acme.post(at(id)).send(body).expect(400);
    expect(rejected.body).toMatchObject({ code: 'input_invalid', errors: [fault] });
  });
});

describe('a key with a scope', () => {
  test('events:checkin checks in and reads the revoked tickets, and nothing else', async ({
    acme,
    service,
  }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const companyId = service.companies.acme;
    const { key } = await issueKey(service.db, 'test', {
      companyId,
      label: 'door',
      scopes: ['events:checkin'],
    });
    const door = service.as(key);
    expect(statuses((await scan(door, id, 'ann').expect(200)).body)).toEqual(['admitted']);
    await door.get(`${eventPath}/${id}/tickets/revoked`).expect(200);
    for (const path of ['', '/attendees', '/attendees/ann/ticket'])
      expect([path, (await door.get(`${eventPath}/${id}${path}`)).status]).toEqual([path, 403]);
    const rejected = await door.delete(`${eventPath}/${id}/attendees/bob`).expect(403);
    expect(rejected.body.detail).toBe('API key lacks the scope events:write');
  });

  test('events:write checks in as before', async ({ acme, service }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const companyId = service.companies.acme;
    const { key } = await issueKey(service.db, 'test', {
      companyId,
      label: 'shop',
      scopes: ['events:write'],
    });
    expect(statuses((await scan(service.as(key), id, 'ann').expect(200)).body)).toEqual(['admitted']);
  });
});
