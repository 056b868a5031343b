import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { send } from './checkin/door-scans.ts';
import { eventPath, givenEvent } from './requests.ts';

const add = (client: Client, id: string, body: object) =>
  client.post(`${eventPath}/${id}/attendees`).send({ attendeeId: 'ann', ...body });
const ticketOf = async (client: Client, id: string) =>
  (await client.get(`${eventPath}/${id}/attendees/ann/ticket`).expect(200)).body;

describe('the label of an attendee', () => {
  test('is in the document, the list and the results of a check-in, without spaces around it', async ({
    acme,
  }) => {
    const { id } = await givenEvent(acme);
    expect((await add(acme, id, { label: '  Table 12 ' }).expect(201)).body).toMatchObject({
      label: 'Table 12',
      inside: null,
    });
    await add(acme, id, { attendeeId: 'bob', label: null }).expect(201);
    expect((await acme.get(`${eventPath}/${id}/attendees`).expect(200)).body).toMatchObject([
      { label: 'Table 12' },
      { label: null },
    ]);
    expect(await send(acme, id, { attendeeId: 'ann' }, { attendeeId: 'bob' })).toMatchObject([
      { label: 'Table 12' },
      { label: null },
    ]);
  });

  test.for([
    ['', 'label must not be empty'],
    [' \u200b', 'label must have a visible character'],
    ['x'.repeat(65), undefined],
    [12, undefined],
  ] as const)('must not be %j', async ([label, message], { acme }) => {
    const { id } = await givenEvent(acme);
    const rejected = await add(acme, id, { label }).expect(400);
    expect(rejected.body.errors).toMatchObject([
      { pointer: '/label', ...(message !== undefined && { message }) },
    ]);
  });

  test('may have 64 characters of any kind', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const label = '\u{1f33e}'.repeat(64);
    expect((await add(acme, id, { label }).expect(201)).body.label).toBe(label);
  });

  test('is in the ticket of an event with labelOnTickets alone, which admits then too', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await add(acme, id, { label: 'Table 12' }).expect(201);
    const { ticket } = await ticketOf(acme, id);
    expect(decodeJwt(ticket)['label']).toBeUndefined();
    const changed = await acme.patch(`${eventPath}/${id}`).send({ labelOnTickets: true }).expect(200);
    expect(changed.body.labelOnTickets).toBe(true);
    const shown = (await ticketOf(acme, id)).ticket;
    expect(decodeJwt(shown)).toMatchObject({ sub: 'ann', aud: id, label: 'Table 12' });
    expect(await send(acme, id, { ticket: shown }, { ticket })).toMatchObject([
      { status: 'admitted' },
      { status: 'already_admitted' },
    ]);
  });
});

describe('the url of a ticket', () => {
  test('leads to the page of the service with ticket and event in its fragment', async ({
    acme,
    service,
  }) => {
    const { id } = await givenEvent(acme);
    await add(acme, id, {}).expect(201);
    const twin = await service.twin({ PUBLIC_BASE_URL: 'https://tickets.example/' });
    const { ticket, url } = await ticketOf(twin.as(service.keys.acme), id);
    expect(url).toBe(`https://tickets.example/ticket#${ticket}&name=Spring%20fair`);
  });

  test('is null without a public address', async ({ acme, service }) => {
    const { id } = await givenEvent(acme);
    await add(acme, id, {}).expect(201);
    const twin = await service.twin({ PUBLIC_BASE_URL: '' });
    expect((await ticketOf(twin.as(service.keys.acme), id)).url).toBeNull();
  });
});
