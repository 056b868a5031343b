import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { eventPath, givenAttendees, givenEvent } from './requests.ts';

describe('200', () => {
  test('gives the event with the number of its attendees', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const { body } = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(body).toMatchObject({ id, name: 'Spring fair', totalAttendees: 2 });
  });

  test('gives the same tag for as long as the event looks the same', async ({ acme }) => {
    const { id, etag } = await givenEvent(acme);
    const once = await acme.get(`${eventPath}/${id}`).expect(200);
    const twice = await acme.get(`${eventPath}/${id}`).expect(200);
    expect([once.headers['etag'], twice.headers['etag']]).toEqual([etag, etag]);
  });

  test('gives another tag when the number of attendees is another', async ({ acme }) => {
    const { id, etag } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const { headers } = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(headers['etag']).not.toBe(etag);
  });
});
