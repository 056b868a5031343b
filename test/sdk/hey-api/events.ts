import assert from 'node:assert/strict';
import { client } from '../dist/hey-api/events/client.gen.js';
import {
  addAttendee,
  checkInAttendees,
  createChallenge,
  createEvent,
  deleteEvent,
  getEligibility,
  getEvent,
  getTicket,
  getTicketKeys,
  type Problem,
  removeAttendee,
  updateEvent,
} from '../dist/hey-api/events/index.js';
import { live, unknownId } from '../live.js';
import { wallet } from '../wallet.js';

client.setConfig({ baseUrl: live.baseUrl, auth: live.key });

const created = await createEvent({ body: { name: 'SDK proof', maxAttendees: 1, price: 12.5 } });
assert(created.data, created.error?.detail);
const path = { eventId: created.data.id };
const attendee = { attendeeId: 'user-7421' };

const { data: may } = await getEligibility({ path, query: { wallet: wallet.address } });
assert.deepEqual([may?.wallet, may?.mayAttend, may?.price], [wallet.address, true, 12.5]);
const { data: challenge } = await createChallenge({ path, body: { wallet: wallet.address, chainId: 31337 } });
assert(challenge);
const { message } = challenge;
const proof = { message, signature: await wallet.signMessage(message) };

const added = await addAttendee({ path, body: { ...attendee, wallet: wallet.address, proof } });
assert.deepEqual([added.data?.eventId, added.data?.appliedPrice], [created.data.id, 12.5]);

const full = await addAttendee({ path, body: { attendeeId: 'user-0017' } });
const conflict: Problem | undefined = full.error;
assert.deepEqual([full.response?.status, conflict?.code], [409, 'event_full']);

const ticket = await getTicket({ path: { ...path, ...attendee } });
assert(ticket.data, ticket.error?.detail);
const door = await checkInAttendees({ path, body: { items: [ticket.data.ticket, 'user-0017'] } });
assert.deepEqual(
  door.data?.items.map(({ status }) => status),
  ['admitted', 'unknown'],
);
const published = await getTicketKeys();
assert.equal(published.data?.keys[0]?.crv, 'Ed25519');

const removed = await removeAttendee({ path, body: attendee });
assert.equal(removed.response?.status, 204);

const changed = await updateEvent({ path, body: { maxAttendees: null } });
assert.equal(changed.data?.maxAttendees, null);

const deleted = await deleteEvent({ path });
assert.equal(deleted.response?.status, 204);

const missing = await getEvent({ path: { eventId: unknownId } });
const problem: Problem | undefined = missing.error;
assert.deepEqual([missing.response?.status, problem?.code], [404, 'event_not_found']);
