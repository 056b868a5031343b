import { isDeepStrictEqual } from 'node:util';
import fc, { type Arbitrary } from 'fast-check';
import { caller, type FuzzContext, type Reply } from './fuzz-context.ts';
import { assert, type Property, property } from './property.ts';

type Call = ReturnType<typeof caller>;

/** What an event must be like after the steps so far. */
type Model = {
  readonly id: string;
  etag: string;
  exists: boolean;
  name: string;
  max: number | null;
  readonly attendees: string[];
  readonly admitted: Set<string>;
};

/** One request on the event, whatever state it is in, checked against the model. */
type Step = (call: Call, model: Model) => Promise<void>;

const users = fc.constantFrom('ann', 'bob/1', 'Ç é', '%2F', '..', '😀');
const names = fc.constantFrom('Spring fair', '', 'Ωmega', 'a"b\\c');
const limits = fc.constantFrom(null, 0, 1, 2, 3);

function expectOutcome(reply: Reply, expected: string, what: string): void {
  assert(reply.outcome === expected, `${what} answered ${reply.outcome} instead of ${expected}`);
}

const ids = ({ id: eventId }: Model, attendeeId = 'nobody') => ({ eventId, attendeeId });
const gone = '404 event_not_found';

function expectRecord(reply: Reply, model: Model): void {
  const { id, name, maxAttendees, totalAttendees } = reply.json;
  const seen = JSON.stringify([id, name, maxAttendees, totalAttendees]);
  const wanted = JSON.stringify([model.id, model.name, model.max, model.attendees.length]);
  assert(seen === wanted, `the event is ${seen} instead of ${wanted}`);
  model.etag = reply.headers['etag'] ?? '';
}

const get: Step = async (call, model) => {
  const reply = await call('getEvent', { ids: ids(model) });
  expectOutcome(reply, model.exists ? '200' : gone, 'getEvent');
  if (model.exists) expectRecord(reply, model);
};

const list: Step = async (call, model) => {
  const reply = await call('listAttendees', { ids: ids(model) });
  expectOutcome(reply, model.exists ? '200' : gone, 'listAttendees');
  if (!model.exists) return;
  const seen = (reply.json as unknown as { attendeeId: string }[]).map(({ attendeeId }) => attendeeId); // a list
  const wanted = JSON.stringify(model.attendees);
  assert(JSON.stringify(seen) === wanted, `the attendees are ${JSON.stringify(seen)} instead of ${wanted}`);
};

const find: Step = async (call, model) => {
  const reply = await call('listEvents', { query: 'limit=200' });
  const found = (reply.json as unknown as { id: string }[]).some(({ id }) => id === model.id); // a list
  // Newest first, so it is among the first ones for as long as the chain lasts.
  assert(found === model.exists, `the list ${found ? 'has' : 'lacks'} the event`);
};

function change(
  name: string | undefined,
  max: number | null | undefined,
  condition: 'none' | 'right' | 'stale',
): Step {
  return async (call, model) => {
    // The tag of now: those that the steps have seen may be older.
    if (condition === 'right') await get(call, model);
    const tag = { none: undefined, right: model.etag, stale: '"stale"' }[condition];
    const body = {
      ...(name !== undefined && name !== '' && { name }),
      ...(max !== undefined && { maxAttendees: max }),
    };
    const headers: Record<string, string> = tag ? { 'if-match': tag } : {};
    const reply = await call('updateEvent', { ids: ids(model), body, headers });
    const tooLow = typeof max === 'number' && max < model.attendees.length;
    const refusal =
      condition === 'stale' ? '412 precondition_failed' : tooLow ? '409 max_attendees_too_low' : undefined;
    expectOutcome(reply, model.exists ? (refusal ?? '200') : gone, 'updateEvent');
    if (reply.status !== 200) return;
    if (body.name !== undefined) model.name = body.name;
    if (max !== undefined) model.max = max;
    expectRecord(reply, model);
  };
}

const add =
  (user: string): Step =>
  async (call, model) => {
    const reply = await call('addAttendee', { ids: ids(model), body: { attendeeId: user } });
    const refusal = model.attendees.includes(user)
      ? '409 attendee_already_invited'
      : model.max !== null && model.attendees.length >= model.max
        ? '409 event_full'
        : undefined;
    expectOutcome(reply, model.exists ? (refusal ?? '201') : gone, 'addAttendee');
    if (reply.status === 201) model.attendees.push(user);
  };

const remove =
  (user: string, inPath: boolean): Step =>
  async (call, model) => {
    const encoded = inPath ? encodeURIComponent(user) : user;
    const operation = inPath ? 'removeAttendeeById' : 'removeAttendee';
    const reply = await call(operation, {
      ids: ids(model, encoded),
      ...(!inPath && { body: { attendeeId: user } }),
    });
    const place = model.attendees.indexOf(user);
    expectOutcome(reply, model.exists ? (place < 0 ? '404 attendee_not_found' : '204') : gone, operation);
    if (reply.status !== 204) return;
    model.attendees.splice(place, 1);
    model.admitted.delete(user);
  };

const addTwiceByOneKey =
  (user: string, key: string): Step =>
  async (call, model) => {
    const headers = { 'idempotency-key': key };
    const request = { ids: ids(model), body: { attendeeId: user }, headers };
    const first = await call('addAttendee', request);
    const second = await call('addAttendee', request);
    assert(
      first.outcome === second.outcome,
      `the repeated request answered ${second.outcome} after ${first.outcome}`,
    );
    if (first.status !== 201) return;
    model.attendees.push(user);
    const replayed =
      second.headers['idempotency-replayed'] === 'true' && isDeepStrictEqual(second.json, first.json);
    assert(replayed, 'the repeated request was not answered with the first answer');
    const other = await call('addAttendee', { ...request, body: { attendeeId: `${user}2` } });
    expectOutcome(other, '422 idempotency_key_reused', 'the same key with another body');
  };

const checkIn =
  (...scanned: string[]): Step =>
  async (call, model) => {
    const reply = await call('checkInAttendees', {
      ids: ids(model),
      body: { scans: scanned.map((attendeeId) => ({ attendeeId })) },
    });
    expectOutcome(reply, model.exists ? '200' : gone, 'checkInAttendees');
    if (!model.exists) return;
    const wanted = scanned.map((text) => {
      // White space around an id counts only where there is an attendee of exactly this id.
      const user = model.attendees.includes(text) ? text : text.trim();
      if (!model.attendees.includes(user)) return 'unknown';
      if (model.admitted.has(user)) return 'already_admitted';
      model.admitted.add(user);
      return 'admitted';
    });
    const items = reply.json['items'] as { status: string }[]; // as documented
    const seen = items.map(({ status }) => status);
    assert(isDeepStrictEqual(seen, wanted), `the check-in came to ${seen} instead of ${wanted}`);
  };

const remove_all: Step = async (call, model) => {
  const reply = await call('deleteEvent', { ids: ids(model) });
  expectOutcome(reply, model.exists ? '204' : gone, 'deleteEvent');
  model.exists = false;
};

const seenByAnother =
  (otherKey: string): Step =>
  async (call, model) => {
    for (const operation of [
      'getEvent',
      'listAttendees',
      'deleteEvent',
      'updateEvent',
      'addAttendee',
      'checkInAttendees',
      'getTicket',
      'listRevokedTickets',
      'listCheckInScans',
      'getCheckInSummary',
      'getDoor',
    ] as const)
      expectOutcome(
        await call(operation, { ids: ids(model), key: otherKey }),
        gone,
        `${operation} of a stranger`,
      );
  };

function steps({ otherKey }: FuzzContext): Arbitrary<Step> {
  return fc.oneof(
    fc.constantFrom(get, list, find),
    fc
      .tuple(
        fc.option(names, { nil: undefined }),
        fc.option(limits, { nil: undefined }),
        fc.constantFrom('none', 'right', 'stale'),
      )
      .map((values) => named(`change ${JSON.stringify(values)}`, change(...values))),
    { weight: 3, arbitrary: users.map((user) => named(`add ${user}`, add(user))) },
    fc
      .array(users, { minLength: 1, maxLength: 3 })
      .map((scanned) => named(`check ${scanned} in`, checkIn(...scanned))),
    fc.tuple(users, fc.boolean()).map(([user, inPath]) => named(`remove ${user}`, remove(user, inPath))),
    fc
      .tuple(users, fc.uuid())
      .map(([user, key]) => named(`add ${user} twice by one key`, addTwiceByOneKey(user, key))),
    fc.constant(remove_all),
    ...(otherKey === undefined ? [] : [fc.constant(seenByAnother(otherKey))]),
  );
}

/** Gives a step its name, which the counterexample shows. */
function named(name: string, step: Step): Step {
  return Object.defineProperty(step, fc.toStringMethod, { value: () => name });
}

/** An event is what the requests so far have made of it, also when it is deleted. */
export function eventChain(context: FuzzContext): Property {
  return property(
    'events in a row',
    10,
    fc.array(steps(context), { minLength: 1, maxLength: 12 }),
    async (prober, all) => {
      const call = caller(context, prober);
      const created = await call('createEvent', { body: { name: 'Fuzz, may be deleted' } });
      expectOutcome(created, '201', 'createEvent');
      const id = String(created.json['id']);
      const model: Model = {
        id,
        etag: '',
        exists: true,
        name: 'Fuzz, may be deleted',
        max: null,
        attendees: [],
        admitted: new Set(),
      };
      try {
        const location = created.headers['location'] ?? '';
        assert(location.endsWith(`/event/${id}`), `Location is ${location}`);
        for (const step of all) await step(call, model);
        await get(call, model);
        await list(call, model);
      } finally {
        if (model.exists) await remove_all(call, model);
      }
    },
  );
}
