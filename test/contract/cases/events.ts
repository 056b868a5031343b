import { randomUUID } from 'node:crypto';
import { Unprovoked } from '../session.ts';
import { foreignCursor, reusingKey } from './any-operation.ts';
import { cannot, type Provocations, type Trial, writing } from './case.ts';

type EventRecord = { readonly id: string };

/** An event of the company that is there already. */
const anyEvent = async ({ session }: Trial): Promise<string> => {
  const path = '/events/v1/api/event?limit=1';
  const [first] = await session.ask<EventRecord[]>('listEvents', { path });
  if (first !== undefined) return first.id;
  if (!session.mayWrite) throw new Unprovoked('the company has no event; needs --write');
  return (await session.makeEvent()).id;
};

/** A new event, for the operation with its id. */
const onNewEvent = (more: (made: { id: string; etag: string }) => object = () => ({}), fields = {}) =>
  writing(async ({ session, id }) => {
    const made = await session.makeEvent(fields);
    return session.call(id, { ids: { eventId: made.id }, ...more(made) });
  });

/** A new event with one attendee, for the operation with both their ids. */
const onAttendance = (more: object = {}, fields = {}) =>
  writing(async ({ session, id }) => {
    const ids = { eventId: (await session.makeEvent(fields)).id, attendeeId: 'user-7421' };
    await session.ask('addAttendee', { ids, body: { attendeeId: ids.attendeeId } });
    return session.call(id, { ids, ...more });
  });

/** A new event with a scan and one that is undone, for the operation with its id. */
const onCheckedIn = writing(async ({ session, id }) => {
  const ids = { eventId: (await session.makeEvent()).id };
  await session.ask('addAttendee', { ids, ...someone });
  const stamp = () => ({ scanId: randomUUID(), at: new Date().toISOString(), gate: 'North' });
  const exit = { ...someone.body, ...stamp(), kind: 'exit' };
  const undo = { kind: 'undo', ...stamp(), undoes: exit.scanId };
  await session.ask('checkInAttendees', {
    ids,
    body: { scans: [{ ...someone.body, ...stamp() }, exit, undo] },
  });
  return session.call(id, { ids });
});

const someone = { body: { attendeeId: 'user-7421' } };
const ofWallet = { wallet: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc' };
const withWallet = { body: { ...someone.body, ...ofWallet } };
const nobodyMatches = { contractRequiredToAttend: ['membership'] };
const onUnknownNetwork = {
  contractRequiredToAttend: ['eip155:424242:0x5fbdb2315678afecb367f032d93f642f64180aa3'],
};
const stale = { headers: { 'if-match': '"5f8Zc0kqk0Jt6vEq"' } };
const endBeforeStart = { startDate: '2027-05-04', endDate: '2027-05-03' };
const discountAbovePrice = { price: 5, discountPrice: 6 };

const rejectedCreation =
  (fields: object) =>
  ({ session, id }: Trial) =>
    session.call(id, { body: { name: 'Contract test, may be deleted', ...fields } });

const rejectedChange = (fields: object) => onNewEvent(() => ({ body: fields }));

export const eventCases: Provocations = {
  'listEvents cursor_invalid': ({ session, id }) => session.call(id, { query: foreignCursor }),
  'listAttendees cursor_invalid': ({ session, id }) => session.call(id, { query: foreignCursor }),
  'listCheckInScans cursor_invalid': ({ session, id }) => session.call(id, { query: foreignCursor }),
  'listEvents events': ({ session, id }) => session.call(id, { query: 'limit=5' }),
  'listEvents none': ({ session, id }) => session.call(id, { query: 'startsFrom=9999-12-31' }),
  starts_from_malformed: ({ session, id }) => session.call(id, { query: 'startsFrom=2027-02-30' }),

  'createEvent event_minimal': writing(({ session, id }) =>
    session.call(id, { body: { name: 'Spring fair' } }),
  ),
  name_required: ({ session, id }) => session.call(id, { body: {} }),
  name_not_text: ({ session, id }) => session.call(id, { body: { name: 5 } }),
  'createEvent end_before_start': rejectedCreation(endBeforeStart),
  'createEvent discount_above_price': rejectedCreation(discountAbovePrice),
  'createEvent event_network_not_found': rejectedCreation({ chainId: 424242 }),
  'createEvent idempotency_key_reused': reusingKey(async () => ({
    ids: {},
    first: { name: 'Spring fair' },
    second: { name: 'Autumn fair' },
  })),

  'getEvent event': async (trial) =>
    trial.session.call(trial.id, { ids: { eventId: await anyEvent(trial) } }),
  'getEvent event_minimal': onNewEvent(),

  'updateEvent event': onNewEvent(({ etag }) => ({ headers: { 'if-match': etag } })),
  'updateEvent end_before_start': rejectedChange(endBeforeStart),
  'updateEvent discount_above_price': rejectedChange(discountAbovePrice),
  'updateEvent event_network_not_found': ({ session, id }) => session.call(id, { body: { chainId: 424242 } }),
  max_attendees_too_low: onAttendance({ body: { maxAttendees: 0 } }),
  precondition_failed: onNewEvent(() => stale),
  etag_weakened: onNewEvent(({ etag }) => ({ headers: { 'if-match': `W/${etag}` } })),

  'deleteEvent 204': onNewEvent(({ etag }) => ({ headers: { 'if-match': etag } })),

  'listAttendees attendees': onAttendance(),
  'listAttendees none': onNewEvent(),
  'addAttendee attendee': onNewEvent(() => someone),
  attendee_id_required: ({ session, id }) => session.call(id, { body: {} }),
  attendee_already_invited: onAttendance(someone, { maxAttendees: 1 }),
  event_full: onAttendance({ body: { attendeeId: 'user-0017' } }, { maxAttendees: 1 }),
  'addAttendee idempotency_key_reused': reusingKey(async ({ session }) => ({
    ids: { eventId: (await session.makeEvent()).id },
    first: { attendeeId: 'user-7421' },
    second: { attendeeId: 'user-0017' },
  })),
  'addAttendee attendee_with_wallet': onNewEvent(() => withWallet),
  'addAttendee wallet_required_in_body': onNewEvent(() => someone, { proofRequired: true }),
  proof_required: onNewEvent(() => withWallet, { proofRequired: true }),
  proof_invalid: onNewEvent(() => ({
    body: { ...withWallet.body, proof: { message: `Nonce: ${'0'.repeat(32)}`, signature: '0x' } },
  })),
  wallet_not_eligible: onNewEvent(() => withWallet, nobodyMatches),
  token_ids_required: cannot('needs a wallet with tokens of a contract that does not list them'),
  tokens_used: cannot('needs a wallet with a token that has admitted somebody'),
  'addAttendee eligibility_unavailable': onNewEvent(() => withWallet, onUnknownNetwork),
  'getEligibility eligibility': onNewEvent(),
  'getEligibility eligibility_not_decidable': onNewEvent(() => ({}), nobodyMatches),
  'getEligibility eligibility_unavailable': onNewEvent(() => ({}), onUnknownNetwork),
  wallet_required: onNewEvent(({ id }) => ({ path: `/events/v1/api/event/${id}/eligibility` })),
  'createChallenge challenge': writing(async ({ session, facts, id }) => {
    const ids = { eventId: (await session.makeEvent()).id, chainId: await facts.chainId() };
    return session.call(id, { ids });
  }),
  'createChallenge wallet_required_in_body': ({ session, id }) => session.call(id, { body: {} }),
  'createChallenge network_not_found': onNewEvent(() => ({ body: { ...ofWallet, chainId: 424242 } })),
  'removeAttendee 204': onAttendance(),
  'removeAttendeeById 204': onAttendance(),
  attendee_not_found: onNewEvent(),

  'getTicket ticket': onAttendance(),
  'checkInAttendees checked_in': onAttendance({
    body: {
      scans: ['user-7421', 'user-7421', 'user-0017'].map((attendeeId) => ({ attendeeId, gate: 'North' })),
      sentAt: new Date().toISOString(),
    },
  }),
  'getCheckInSummary check_in_summary': onCheckedIn,
  'listCheckInScans kept_scans': onCheckedIn,
  'listCheckInScans none': onNewEvent(),
  'getDoor door': onNewEvent(),
  'checkInAttendees eligibility_unavailable': writing(async ({ session, id }) => {
    const { id: eventId } = await session.makeEvent({ recheckAtCheckin: true });
    await session.ask('addAttendee', { ids: { eventId }, ...withWallet });
    await session.ask('updateEvent', { ids: { eventId }, body: onUnknownNetwork });
    return session.call(id, { ids: { eventId }, body: { scans: [someone.body] } });
  }),
  too_many_readings: writing(async ({ session, id }) => {
    const { id: eventId } = await session.makeEvent({ recheckAtCheckin: true });
    const items = ['1', '2', '3', '4', '5'];
    for (const each of items) {
      const body = { attendeeId: each, wallet: `0x${each.repeat(40)}` };
      await session.ask('addAttendee', { ids: { eventId }, body });
    }
    const [contract] = onUnknownNetwork.contractRequiredToAttend;
    const contractRequiredToAttend = Array.from({ length: 100 }, (_, token) => `${contract}/${token}`);
    await session.ask('updateEvent', { ids: { eventId }, body: { contractRequiredToAttend } });
    return session.call(id, {
      ids: { eventId },
      body: { scans: items.map((attendeeId) => ({ attendeeId })) },
    });
  }),
  items_required: ({ session, id }) => session.call(id, { body: {} }),
  'checkInAttendees idempotency_key_reused': reusingKey(async ({ session }) => ({
    ids: { eventId: (await session.makeEvent()).id },
    first: { items: ['user-7421'] },
    second: { items: ['user-0017'] },
  })),
  'listRevokedTickets revoked_tickets': writing(async ({ session, id }) => {
    const ids = { eventId: (await session.makeEvent()).id, attendeeId: 'user-7421' };
    await session.ask('addAttendee', { ids, body: { attendeeId: ids.attendeeId } });
    await session.call('removeAttendeeById', { ids });
    return session.call(id, { ids });
  }),
  'listRevokedTickets none': onNewEvent(),
  'getTicketKeys ticket_keys': ({ session, id }) => session.call(id),
};
