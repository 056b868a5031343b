import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from '../dist/openapi-typescript/events/schema.js';
import { live, unknownId } from '../live.js';
import { wallet } from '../wallet.js';

const client = createClient<paths>({ baseUrl: live.baseUrl, headers: { 'x-api-key': live.key } });

const created = await client.POST('/event', { body: { name: 'SDK proof', maxAttendees: 1, price: 12.5 } });
assert(created.data, created.error?.detail);
const path = { eventId: created.data.id };
const attendee = { attendeeId: 'user-7421' };

const { data: may } = await client.GET('/event/{eventId}/eligibility', {
  params: { path, query: { wallet: wallet.address } },
});
assert.deepEqual([may?.wallet, may?.mayAttend, may?.price], [wallet.address, true, 12.5]);
const { data: challenge } = await client.POST('/event/{eventId}/challenge', {
  params: { path },
  body: { wallet: wallet.address, chainId: 31337 },
});
assert(challenge);
const { message } = challenge;
const proof = { message, signature: await wallet.signMessage(message) };

const added = await client.POST('/event/{eventId}/attendees', {
  params: { path },
  body: { ...attendee, wallet: wallet.address, proof },
});
assert.deepEqual([added.data?.eventId, added.data?.appliedPrice], [created.data.id, 12.5]);

const full = await client.POST('/event/{eventId}/attendees', {
  params: { path },
  body: { attendeeId: 'user-0017' },
});
const conflict: components['schemas']['Problem'] | undefined = full.error;
assert.deepEqual([full.response.status, conflict?.code], [409, 'event_full']);

const ticket = await client.GET('/event/{eventId}/attendees/{attendeeId}/ticket', {
  params: { path: { ...path, ...attendee } },
});
assert(ticket.data, ticket.error?.detail);
const door = await client.POST('/event/{eventId}/checkin', {
  params: { path },
  body: { items: [ticket.data.ticket, 'user-0017'] },
});
assert.deepEqual(
  door.data?.items.map(({ status }) => status),
  ['admitted', 'unknown'],
);
const published = await client.GET('/tickets/jwks');
assert.equal(published.data?.keys[0]?.crv, 'Ed25519');

const removed = await client.DELETE('/event/{eventId}/attendees', { params: { path }, body: attendee });
assert.equal(removed.response.status, 204);

type Change = components['schemas']['UpdateEventRequest'];
const change = async (body: Change) => {
  const { data, error } = await client.PATCH('/event/{eventId}', { params: { path }, body });
  assert(data, error?.detail);
  return data.maxAttendees;
};
// recipe
const value: Change = { maxAttendees: 5 }; // a value
const leftOut: Change = {}; // left out: it stays as it is
const unlimited: Change = { maxAttendees: null }; // null: no limit any more
// end
assert.equal(await change(value), 5);
assert.equal(await change(leftOut), 5);
assert.equal(await change(unlimited), null);

const deleted = await client.DELETE('/event/{eventId}', { params: { path } });
assert.equal(deleted.response.status, 204);

const missing = await client.GET('/event/{eventId}', { params: { path: { eventId: unknownId } } });
const problem: components['schemas']['Problem'] | undefined = missing.error;
assert.deepEqual([missing.response.status, problem?.code], [404, 'event_not_found']);
