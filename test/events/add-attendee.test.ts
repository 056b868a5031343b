import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { eventPath, givenAttendees, givenEvent, unknownId } from './requests.ts';

const at = (id: string) => `${eventPath}/${id}/attendees`;

async function attendeesOf(acme: Client, id: string): Promise<string[]> {
  const { body } = await acme.get(at(id)).expect(200);
  const event = await acme.get(`${eventPath}/${id}`).expect(200);
  expect(event.body.totalAttendees).toBe(body.length);
  return body.map(({ attendeeId }: { attendeeId: string }) => attendeeId);
}

describe('201', () => {
  test('registers the user and counts one more', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const { body } = await acme.post(at(id)).send({ attendeeId: 'ann' }).expect(201);
    expect(body).toEqual({
      attendeeId: 'ann',
      eventId: id,
      label: null,
      inside: null,
      createdAt: body.createdAt,
      checkedInAt: null,
      wallet: null,
      appliedPrice: null,
      blocks: [],
      tokens: [],
    });
    expect(await attendeesOf(acme, id)).toEqual(['ann']);
  });

  test.for([
    ['of 255 letters', 'x'.repeat(255)],
    ['of 255 characters beyond the basic plane', '\u{1f33e}'.repeat(255)],
    ['of odd characters', " o'Neil/%2F?#\\ "],
    ['that reads like a number', '0'],
    ['that reads like null', 'null'],
  ] as const)('takes a user id %s as it is', async ([_, attendeeId], { acme }) => {
    const { id } = await givenEvent(acme);
    const { body } = await acme.post(at(id)).send({ attendeeId }).expect(201);
    expect(body.attendeeId).toBe(attendeeId);
    expect(await attendeesOf(acme, id)).toEqual([attendeeId]);
  });

  test('ignores the read-only fields of a record that is sent back', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const sent = { attendeeId: 'ann', eventId: unknownId, createdAt: '2000-01-01T00:00:00.000Z' };
    const { body } = await acme.post(at(id)).send(sent).expect(201);
    expect(body.eventId).toBe(id);
    expect(body.createdAt).not.toBe(sent.createdAt);
  });

  test('registers the same user for another event', async ({ acme }) => {
    const [one, other] = [await givenEvent(acme), await givenEvent(acme)];
    await givenAttendees(acme, one.id, 'ann');
    await givenAttendees(acme, other.id, 'ann');
  });
});

describe('400', () => {
  test.for([{}, { attendeeId: '' }, { attendeeId: null }, undefined])(
    'says Attendee ID is required to %j',
    async (sent, { acme }) => {
      const { id } = await givenEvent(acme);
      const { body } = await acme.post(at(id)).send(sent).expect(400);
      expect(body).toMatchObject({ code: 'attendee_id_required', detail: 'Attendee ID is required' });
      expect(body.errors).toEqual([
        { location: 'body', in: 'body', pointer: '/attendeeId', message: 'Attendee ID is required' },
      ]);
    },
  );

  test('does not hold what the path says against an attendee that is sent back', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const other = await givenEvent(acme);
    const { body: read } = await acme.post(at(other.id)).send({ attendeeId: 'ann' }).expect(201);
    const { body } = await acme.post(at(id)).send(read).expect(201);
    expect(body).toMatchObject({ attendeeId: 'ann', eventId: id });
  });

  test('comes before any look-up of the event', async ({ acme }) => {
    const { body } = await acme.post(at(unknownId)).send({}).expect(400);
    expect(body.detail).toBe('Attendee ID is required');
  });
});

describe('409', () => {
  test('says Attendee already invited also when the event is full, and Event is full to a new user', async ({
    acme,
  }) => {
    const { id } = await givenEvent(acme, { maxAttendees: 1 });
    await givenAttendees(acme, id, 'ann');
    const again = await acme.post(at(id)).send({ attendeeId: 'ann' }).expect(409);
    expect(again.body.detail).toBe('Attendee already invited');
    const full = await acme.post(at(id)).send({ attendeeId: 'bob' }).expect(409);
    expect(full.body).toMatchObject({ code: 'event_full', detail: 'Event is full' });
  });

  test('has no place at all with a maxAttendees of 0', async ({ acme }) => {
    const { id } = await givenEvent(acme, { maxAttendees: 0 });
    const { body } = await acme.post(at(id)).send({ attendeeId: 'ann' }).expect(409);
    expect(body.detail).toBe('Event is full');
  });

  test('has a place again once somebody is removed', async ({ acme }) => {
    const { id } = await givenEvent(acme, { maxAttendees: 1 });
    await givenAttendees(acme, id, 'ann');
    await acme.delete(`${at(id)}/ann`).expect(204);
    await givenAttendees(acme, id, 'bob');
    expect(await attendeesOf(acme, id)).toEqual(['bob']);
  });

  test('fills 50 places with exactly 50 of 200 users who come at once to two processes', async ({
    service,
    acme,
  }) => {
    const { id } = await givenEvent(acme, { maxAttendees: 50 });
    const twin = await service.twin();
    const doors = [acme, twin.as(twin.keys.acme)];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        doors.map((door, d) => door.post(at(id)).send({ attendeeId: `user ${n} at ${d}` })),
      ).flat(),
    );
    const outcomes = answers.map(({ status, body }) => (status === 201 ? 'registered' : body.detail));
    expect(outcomes.filter((outcome) => outcome === 'registered')).toHaveLength(50);
    expect(outcomes.filter((outcome) => outcome === 'Event is full')).toHaveLength(150);
    expect(await attendeesOf(acme, id)).toHaveLength(50);
  });

  test('registers one user once, however often and wherever at once', async ({ service, acme }) => {
    const { id } = await givenEvent(acme);
    const twin = await service.twin();
    const doors = [acme, twin.as(twin.keys.acme)];
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        doors.map((door) => door.post(at(id)).send({ attendeeId: 'ann' })),
      ).flat(),
    );
    const outcomes = answers.map(({ status, body }) => (status === 201 ? 'registered' : body.detail));
    expect(outcomes.filter((outcome) => outcome === 'registered')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'Attendee already invited')).toHaveLength(19);
    expect(await attendeesOf(acme, id)).toEqual(['ann']);
  });
});
