import assert from 'node:assert/strict';
import {
  addAttendee,
  checkInAttendees,
  createEvent,
  deleteEvent,
  getEvent,
  getTicketKeys,
  type Problem,
  removeAttendee,
  updateEvent,
} from '../dist/orval/events/client.js';
import { live, unknownId } from '../live.js';

const options = { headers: { 'x-api-key': live.key } };

const created = await createEvent({ name: 'SDK proof', maxAttendees: 1, price: 12.5 }, options);
assert(created.status === 201);
const { id } = created.data;
const attendee = { attendeeId: 'user-7421' };

const added = await addAttendee(id, attendee, options);
assert(added.status === 201);
assert.equal(added.data.eventId, id);

const full = await addAttendee(id, { attendeeId: 'user-0017' }, options);
assert(full.status === 409);
const conflict: Problem = full.data;
assert.equal(conflict.code, 'event_full');

const door = await checkInAttendees(id, { items: ['user-7421', 'user-0017'] }, options);
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
