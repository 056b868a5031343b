import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, startService, type TestService } from '../support/service.ts';
import { eventPath, givenAttendees, givenEvent, unknownId, withoutRequestId } from './requests.ts';

let service: TestService;
let acme: Client;
let globex: Client;

beforeAll(async () => {
  service = await startService();
  acme = service.as(service.keys.acme);
  globex = service.as(service.keys.globex);
});

afterAll(() => service.close());

describe('200', () => {
  test('gives the event with the number of its attendees', async () => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const { body } = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(body).toMatchObject({ id, name: 'Spring fair', totalAttendees: 2 });
  });

  test('gives the same tag for as long as the event looks the same', async () => {
    const { id, etag } = await givenEvent(acme);
    const once = await acme.get(`${eventPath}/${id}`).expect(200);
    const twice = await acme.get(`${eventPath}/${id}`).expect(200);
    expect([once.headers['etag'], twice.headers['etag']]).toEqual([etag, etag]);
  });

  test('gives another tag when the number of attendees is another', async () => {
    const { id, etag } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const { headers } = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(headers['etag']).not.toBe(etag);
  });

  test('finds the event by its id in capitals', async () => {
    const { id } = await givenEvent(acme);
    const { body } = await acme.get(`${eventPath}/${id.toUpperCase()}`).expect(200);
    expect(body.id).toBe(id);
  });
});

describe('400', () => {
  test.each(['1', 'not-a-uuid', `${unknownId}0`, `urn:uuid:${unknownId}`])(
    'refuses the id %s and names it',
    async (id) => {
      const { body } = await acme.get(`${eventPath}/${id}`).expect(400);
      expect(body).toMatchObject({ code: 'input_invalid', errors: [{ in: 'path', name: 'eventId' }] });
      expect(body.detail).toContain('eventId');
    },
  );
});

describe('404', () => {
  test("tells nothing of another company's event: it looks like a missing one", async () => {
    const { id } = await givenEvent(acme);
    const foreign = await globex.get(`${eventPath}/${id}`).expect(404);
    const missing = await globex.get(`${eventPath}/${unknownId}`).expect(404);
    expect(foreign.body.detail).toBe('Event not found');
    expect(withoutRequestId(foreign.body)).toEqual(withoutRequestId(missing.body));
    const names = (headers: object) => Object.keys(headers).sort();
    expect(names(foreign.headers)).toEqual(names(missing.headers));
    const bytes = ({ text, body }: typeof foreign) => text.replace(body.requestId, '');
    expect(bytes(foreign)).toBe(bytes(missing));
  });
});
