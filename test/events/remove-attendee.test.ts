import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { eventPath, givenAttendees, givenEvent } from './requests.ts';

const at = (id: string) => `${eventPath}/${id}/attendees`;

describe('204', () => {
  test('removes the user who is named in the body and counts one less', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    await acme.delete(at(id)).send({ attendeeId: 'ann' }).expect(204);
    const left = await acme.get(at(id)).expect(200);
    expect(left.body).toMatchObject([{ attendeeId: 'bob' }]);
    const event = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(event.body.totalAttendees).toBe(1);
  });

  test('counts right when many are removed and added at once', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const users = Array.from({ length: 10 }, (_, n) => `user ${n}`);
    await givenAttendees(acme, id, ...users);
    await Promise.all([
      ...users.map((attendeeId) => acme.delete(at(id)).send({ attendeeId }).expect(204)),
      ...users.map((attendeeId) =>
        acme
          .post(at(id))
          .send({ attendeeId: `${attendeeId} b` })
          .expect(201),
      ),
    ]);
    const event = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(event.body.totalAttendees).toBe(10);
  });
});

describe('404', () => {
  test('lets only one of many removals of one user through', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const sent = Array.from({ length: 5 }, () => acme.delete(at(id)).send({ attendeeId: 'ann' }));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([204, 404, 404, 404, 404]);
    const event = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(event.body.totalAttendees).toBe(1);
  });
});
