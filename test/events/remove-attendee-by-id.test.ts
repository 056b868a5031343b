import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { eventPath, givenAttendees, givenEvent } from './requests.ts';

const at = (id: string, attendeeId: string) =>
  `${eventPath}/${id}/attendees/${encodeURIComponent(attendeeId)}`;

describe('204', () => {
  test.for(['ann', 'a b', "o'Neil/50%?#&+", '\u{1f33e}', '..%2F', 'a/b'])(
    'removes the user %j, who is named in the path',
    async (attendeeId, { acme }) => {
      const { id } = await givenEvent(acme);
      await givenAttendees(acme, id, attendeeId, 'bob');
      await acme.delete(at(id, attendeeId)).expect(204);
      const left = await acme.get(`${eventPath}/${id}/attendees`).expect(200);
      expect(left.body).toMatchObject([{ attendeeId: 'bob' }]);
      const event = await acme.get(`${eventPath}/${id}`).expect(200);
      expect(event.body.totalAttendees).toBe(1);
    },
  );
});
