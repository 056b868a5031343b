import { describe, expect } from 'vitest';
import { issueKey } from '../../../src/keys/key-store.ts';
import { test } from '../../support/fixtures.ts';
import { eventPath, givenEvent, unknownId } from '../requests.ts';

const at = (id: string) => `${eventPath}/${id}/door`;

describe('200', () => {
  test('has what a scanner needs, and nothing else of the event', async ({ acme, anyone, service }) => {
    const fields = {
      startDate: '2027-05-04T09:00:00Z',
      location: 'Corn Exchange',
      description: 'Secret guests',
    };
    const { id } = await givenEvent(acme, fields);
    const { keys } = (await anyone.get('/events/v1/api/tickets/jwks').expect(200)).body;
    const before = Date.now();
    const companyId = service.companies.acme;
    const { key } = await issueKey(service.db, 'test', {
      companyId,
      label: 'door',
      scopes: ['events:checkin'],
    });
    const { body } = await service.as(key).get(at(id.toUpperCase())).expect(200);
    expect(body).toEqual({
      eventId: id,
      name: 'Spring fair',
      startDate: '2027-05-04T09:00:00.000Z',
      endDate: null,
      location: 'Corn Exchange',
      acceptsIds: true,
      keys,
      now: expect.any(String),
    });
    expect(Date.parse(body.now)).toBeGreaterThanOrEqual(before);
    await acme.patch(`${eventPath}/${id}`).send({ ticketsOnly: true }).expect(200);
    expect((await acme.get(at(id)).expect(200)).body.acceptsIds).toBe(false);
  });

  test('has no keys while the service has none', async ({ acme, service }) => {
    const { id } = await givenEvent(acme);
    const twin = await service.twin({ AREAS: 'events', SECRET_KEYS: '' });
    expect((await twin.as(service.keys.acme).get(at(id)).expect(200)).body.keys).toEqual([]);
  });
});

describe('404', () => {
  test('is a problem of an event of another company, and of none', async ({ acme, globex }) => {
    const { id } = await givenEvent(acme);
    for (const path of [at(id), at(unknownId)])
      expect((await globex.get(path).expect(404)).body.code).toBe('event_not_found');
  });
});
