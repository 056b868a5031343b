import assert from 'node:assert/strict';
import {
  type AddAttendee409,
  addAttendee,
  checkInAttendees,
  createChallenge,
  createEvent,
  deleteEvent,
  type GetEvent404,
  getEligibility,
  getEvent,
  getTicket,
  getTicketKeys,
  removeAttendee,
  updateEvent,
} from '../dist/kubb/events/index.js';
import { live, unknownId } from '../live.js';
import { wallet } from '../wallet.js';
import { failureOf } from './problem.js';

const options = { baseURL: live.baseUrl, headers: { 'x-api-key': live.key } };

const { id } = await createEvent({ name: 'SDK proof', maxAttendees: 1, price: 12.5 }, undefined, options);
const attendee = { attendeeId: 'user-7421' };

const may = await getEligibility(id, { wallet: wallet.address }, options);
assert.deepEqual([may.wallet, may.mayAttend, may.price], [wallet.address, true, 12.5]);
const { message } = await createChallenge(id, { wallet: wallet.address, chainId: 31337 }, options);
const proof = { message, signature: await wallet.signMessage(message) };

const added = await addAttendee(id, { ...attendee, wallet: wallet.address, proof }, undefined, options);
assert.deepEqual([added.eventId, added.appliedPrice], [id, 12.5]);

const full = await failureOf<AddAttendee409>(
  addAttendee(id, { attendeeId: 'user-0017' }, undefined, options),
);
assert.deepEqual([full.status, full.body.code], [409, 'event_full']);

const { ticket } = await getTicket(id, attendee.attendeeId, options);
const door = await checkInAttendees(id, { items: [ticket, 'user-0017'] }, undefined, options);
assert.deepEqual(
  door.items.map(({ status }) => status),
  ['admitted', 'unknown'],
);
const published = await getTicketKeys(options);
assert.equal(published.keys[0]?.crv, 'Ed25519');

await removeAttendee(id, attendee, options);

const changed = await updateEvent(id, { maxAttendees: null }, undefined, options);
assert.equal(changed.maxAttendees, null);

await deleteEvent(id, undefined, options);

const missing = await failureOf<GetEvent404>(getEvent(unknownId, options));
assert.deepEqual([missing.status, missing.body.code], [404, 'event_not_found']);
