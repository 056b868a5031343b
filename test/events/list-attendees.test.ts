import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { eventPath, givenAttendees, givenEvent } from './requests.ts';

const at = (id: string) => `${eventPath}/${id}/attendees`;

describe('200', () => {
  test('lists the attendees in the order of their registration', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'zoe', 'ann', 'mia');
    await acme.delete(`${at(id)}/ann`).expect(204);
    await givenAttendees(acme, id, 'bob', 'ann');
    const { body } = await acme.get(at(id)).expect(200);
    const ids = body.map(({ attendeeId }: { attendeeId: string }) => attendeeId);
    expect(ids).toEqual(['zoe', 'mia', 'bob', 'ann']);
    for (const attendee of body) expect(attendee).toEqual({ ...attendee, eventId: id });
  });

  test('is empty for an event without attendees', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const { body } = await acme.get(at(id)).expect(200);
    expect(body).toEqual([]);
  });
});
