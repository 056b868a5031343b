import { describe, expect } from 'vitest';
import { givenAttendees, givenEvent } from '../events/requests.ts';
import { addRwa } from '../rwa/samples.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { noteStatements } from '../support/sent-statements.ts';
import type { Client } from '../support/service.ts';

const sentStatements = noteStatements();
const test = base.extend('ids', perFile, async ({ service, acme }) => {
  const { id: rwa } = await addRwa(service.db, service.companies.acme);
  const { body } = await acme.post(`/v1/api/rwa/${rwa}/nfts`).send({ count: 1 }).expect(200);
  const { id: event } = await givenEvent(acme);
  await givenAttendees(acme, event, 'ann');
  return { rwa, event, nft: body.nfts[0].id };
});

type Ids = { readonly rwa: string; readonly event: string; readonly nft: string };

const event = '/events/v1/api/event';
const full = { name: 'Harvest supper', startDate: '2027-09-18T19:00:00Z', maxAttendees: 50, chainId: 31_337 };
let guests = 0;

/** What is asked, the status of its answer, and what its one statement has in it. */
const requests = [
  [
    'GET /event/{eventId}',
    (client: Client, ids: Ids) => client.get(`${event}/${ids.event}`),
    200,
    ['FROM events'],
  ],
  ['GET /rwa/{id}', (client: Client, ids: Ids) => client.get(`/v1/api/rwa/${ids.rwa}`), 200, ['FROM rwas']],
  [
    'GET /nft/{id}, whose secret is told of in the audit log,',
    (client: Client, ids: Ids) => client.get(`/v1/api/nft/${ids.nft}`),
    200,
    ['FROM nfts', 'INTO audit_log'],
  ],
  ['POST /event', (client: Client) => client.post(event).send(full), 201, ['INTO events', 'INTO audit_log']],
  [
    'POST /event/{eventId}/attendees',
    (client: Client, ids: Ids) => {
      guests += 1;
      return client.post(`${event}/${ids.event}/attendees`).send({ attendeeId: `guest ${guests}` });
    },
    201,
    ['UPDATE events', 'INTO attendees', 'INTO audit_log'],
  ],
  [
    'POST /rwa/{id}/nfts for 100 NFTs',
    (client: Client, ids: Ids) => client.post(`/v1/api/rwa/${ids.rwa}/nfts`).send({ count: 100 }),
    200,
    ['UPDATE rwas', 'INTO nfts', 'INTO audit_log'],
  ],
] as const;

describe('all that a process sends to PostgreSQL for a single row', () => {
  test.for(requests)('%s is one statement', async ([_, ask, status, parts], { acme, ids }) => {
    // The first request looks the key up, which is remembered then.
    await ask(acme, ids).expect(status);
    const sent = await sentStatements(() => ask(acme, ids).expect(status));
    expect(sent).toEqual([expect.any(String)]);
    for (const part of parts) expect(sent[0]).toContain(part);
  });
});

test('a limit of the rate is one statement more, which counts the request', async ({ service, ids }) => {
  const limited = await service.twin({ RATE_LIMIT_PER_SECOND: '1000', RATE_LIMIT_BURST: '1000' });
  const client = limited.as(service.keys.acme);
  await client.get(`/v1/api/rwa/${ids.rwa}`).expect(200);
  const sent = await sentStatements(() => client.get(`/v1/api/rwa/${ids.rwa}`).expect(200));
  expect(sent).toEqual([expect.stringContaining('rate_limits'), expect.stringContaining('FROM rwas')]);
});
