import { describe, expect } from 'vitest';
import { test } from '../../support/fixtures.ts';
import type { Client } from '../../support/service.ts';
import { eventPath, givenAttendees, givenEvent } from '../requests.ts';

const at = (id: string, query = '') => `${eventPath}/${id}/tickets/revoked${query}`;
const remove = (client: Client, id: string, attendeeId: string) =>
  client.delete(`${eventPath}/${id}/attendees/${attendeeId}`).expect(204);
const ticketIdOf = async (client: Client, id: string, attendeeId: string): Promise<string> =>
  (await client.get(`${eventPath}/${id}/attendees/${attendeeId}/ticket`).expect(200)).body.ticketId;
const read = async (client: Client, id: string, query = '') =>
  (await client.get(at(id, query)).expect(200)).body;

describe('200', () => {
  test('lists removed attendees by removal, and gives an offline scanner what was added', async ({
    acme,
  }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob', 'cid');
    expect(await read(acme, id)).toEqual({ tickets: [], cursor: '', hasMore: false });
    const ofBob = await ticketIdOf(acme, id, 'bob');
    const ofAnn = await ticketIdOf(acme, id, 'ann');
    await remove(acme, id, 'bob');
    const first = await read(acme, id);
    expect(first).toMatchObject({ tickets: [{ ticketId: ofBob, attendeeId: 'bob' }], hasMore: false });
    expect(await read(acme, id, `?after=${first.cursor}`)).toEqual({ ...first, tickets: [] });
    await acme.delete(`${eventPath}/${id}/attendees`).send({ attendeeId: 'ann' }).expect(204);
    const second = await read(acme, id, `?after=${first.cursor}`);
    expect(second.tickets).toMatchObject([{ ticketId: ofAnn, attendeeId: 'ann' }]);
  });

  test('pages without gaps', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const users = ['a', 'b', 'c', 'd', 'e'];
    await givenAttendees(acme, id, ...users);
    for (const user of users.toReversed()) await remove(acme, id, user);
    const seen: string[] = [];
    let page = { cursor: '', hasMore: true, tickets: [] as { attendeeId: string }[] };
    while (page.hasMore) {
      page = await read(acme, id, `?limit=2&after=${page.cursor}`);
      expect(page.tickets.length).toBeLessThanOrEqual(2);
      seen.push(...page.tickets.map(({ attendeeId }) => attendeeId));
    }
    expect(seen).toEqual(users.toReversed());
  });

  test('leaves the new ticket of a user who is added again', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const before = await ticketIdOf(acme, id, 'ann');
    await remove(acme, id, 'ann');
    await givenAttendees(acme, id, 'ann');
    const { tickets } = await read(acme, id);
    expect(tickets.map(({ ticketId }: { ticketId: string }) => ticketId)).toEqual([before]);
    expect(await ticketIdOf(acme, id, 'ann')).not.toBe(before);
  });

  test('keeps nothing of a deleted event, however many attendees it had', async ({ acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    await remove(acme, id, 'ann');
    await acme.delete(`${eventPath}/${id}`).expect(204);
    expect(await db('revoked_tickets').where({ event_id: id })).toEqual([]);
    await acme.get(at(id)).expect(404);
  });
});

describe('400', () => {
  test('rejects the cursor of another event, an altered one, and a limit out of range', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const { id: other } = await givenEvent(acme);
    await givenAttendees(acme, other, 'ann');
    await remove(acme, other, 'ann');
    const { cursor } = await read(acme, other);
    for (const text of [cursor, 'x', `${cursor}A`]) {
      const { body } = await acme.get(at(id, `?after=${text}`)).expect(400);
      expect(body).toMatchObject({ code: 'cursor_invalid', errors: [{ in: 'query', name: 'after' }] });
    }
    await acme.get(at(id, '?limit=201')).expect(400);
  });
});
