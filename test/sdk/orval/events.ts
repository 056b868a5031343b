import assert from 'node:assert/strict';
import {
  addAttendee,
  createEvent,
  deleteEvent,
  getEvent,
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
