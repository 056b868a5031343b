import assert from 'node:assert/strict';
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
} from '../dist/orval/events/client.js';
import { live, unknownId } from '../live.js';
import { wallet } from '../wallet.js';

const options = { headers: { 'x-api-key': live.key } };

const created = await createEvent({ name: 'SDK proof', maxAttendees: 1, price: 12.5 }, options);
assert(created.status === 201);
const { id } = created.data;
const attendee = { attendeeId: 'user-7421' };

const may = await getEligibility(id, { wallet: wallet.address }, options);
assert(may.status === 200);
assert.deepEqual([may.data.wallet, may.data.mayAttend, may.data.price], [wallet.address, true, 12.5]);
const challenge = await createChallenge(id, { wallet: wallet.address, chainId: 31337 }, options);
assert(challenge.status === 200);
const { message } = challenge.data;
const proof = { message, signature: await wallet.signMessage(message) };

const added = await addAttendee(id, { ...attendee, wallet: wallet.address, proof }, options);
assert(added.status === 201);
assert.deepEqual([added.data.eventId, added.data.appliedPrice], [id, 12.5]);

const full = await addAttendee(id, { attendeeId: 'user-0017' }, options);
assert(full.status === 409);
const conflict: Problem = full.data;
assert.equal(conflict.code, 'event_full');

const ticket = await getTicket(id, attendee.attendeeId, options);
assert(ticket.status === 200);
const door = await checkInAttendees(id, { items: [ticket.data.ticket, 'user-0017'] }, options);
assert(door.status === 200);
assert.deepEqual(
  door.data.items.map(({ status }) => status),
  ['admitted', 'unknown'],
);
const published = await getTicketKeys(options);
assert(published.status === 200);
assert.equal(published.data.keys[0]?.crv, 'Ed25519');

const removed = await removeAttendee(id, attendee, options);
assert.equal(removed.status, 204);

const changed = await updateEvent(id, { maxAttendees: null }, options);
assert(changed.status === 200);
assert.equal(changed.data.maxAttendees, null);

const deleted = await deleteEvent(id, options);
assert.equal(deleted.status, 204);

const missing = await getEvent(unknownId, options);
assert(missing.status === 404);
const problem: Problem = missing.data;
assert.equal(problem.code, 'event_not_found');
