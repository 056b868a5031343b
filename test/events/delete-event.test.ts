import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { eventPath, givenAttendees, givenEvent, unknownId, withoutRequestId } from './requests.ts';

describe('204', () => {
  test('deletes the event and all its attendees', async ({ service, acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    await acme.delete(`${eventPath}/${id}`).expect(204);
    await acme.get(`${eventPath}/${id}`).expect(404);
    await acme.get(`${eventPath}/${id}/attendees`).expect(404);
    expect(await service.db('attendees').where({ event_id: id })).toEqual([]);
  });

  test('leaves the other events and their attendees alone', async ({ acme }) => {
    const kept = await givenEvent(acme);
    await givenAttendees(acme, kept.id, 'ann');
    const { id } = await givenEvent(acme);
    await acme.delete(`${eventPath}/${id}`).expect(204);
    const { body } = await acme.get(`${eventPath}/${kept.id}/attendees`).expect(200);
    expect(body).toHaveLength(1);
  });

  test('deletes under an If-Match that names the version', async ({ acme }) => {
    const { id, etag } = await givenEvent(acme);
    await acme.delete(`${eventPath}/${id}`).set('If-Match', etag).expect(204);
  });
});

describe('400', () => {
  test('refuses a malformed id and names it', async ({ acme }) => {
    const { body } = await acme.delete(`${eventPath}/nonsense`).expect(400);
    expect(body.errors).toMatchObject([{ in: 'path', name: 'eventId' }]);
  });
});

describe('404', () => {
  test("tells nothing of another company's event and leaves it alone", async ({ service, acme }) => {
    const { id } = await givenEvent(acme);
    const globex = service.as(service.keys.globex);
    const foreign = await globex.delete(`${eventPath}/${id}`).expect(404);
    const missing = await globex.delete(`${eventPath}/${unknownId}`).expect(404);
    expect(foreign.body.detail).toBe('Event not found');
    expect(withoutRequestId(foreign.body)).toEqual(withoutRequestId(missing.body));
    await acme.get(`${eventPath}/${id}`).expect(200);
  });

  test('is the answer to the second of two deletions, with If-Match or without', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await acme.delete(`${eventPath}/${id}`).expect(204);
    await acme.delete(`${eventPath}/${id}`).expect(404);
    await acme.delete(`${eventPath}/${id}`).set('If-Match', '*').expect(404);
  });
});

describe('412', () => {
  test('keeps an event that was changed since', async ({ acme }) => {
    const { id, etag } = await givenEvent(acme);
    await acme.patch(`${eventPath}/${id}`).send({ price: 1 }).expect(200);
    const { body } = await acme.delete(`${eventPath}/${id}`).set('If-Match', etag).expect(412);
    expect(body.code).toBe('precondition_failed');
    await acme.get(`${eventPath}/${id}`).expect(200);
  });

  test('keeps an event that somebody has registered for since', async ({ acme }) => {
    const { id, etag } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    await acme.delete(`${eventPath}/${id}`).set('If-Match', etag).expect(412);
  });
});
