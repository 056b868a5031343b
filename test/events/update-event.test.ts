import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { eventPath, givenAttendees, givenEvent, unknownId } from './requests.ts';

const at = (id: string) => `${eventPath}/${id}`;

const optional = {
  location: 'Ely',
  description: 'd',
  program: 'p',
  startDate: '2027-05-04',
  endDate: '2027-05-05',
  maxAttendees: 5,
  price: 10,
  currency: 'EUR',
  discountPrice: 5,
  discountPercentage: 50,
  coverImage: 'https://a.example/1',
  chainId: 31337,
};
const lists = {
  contractRequiredToAttend: ['a'],
  contractRequiredToDiscount: ['b'],
  galleryImages: ['https://a.example'],
};

describe('200', () => {
  test('changes an event that was stored with more tokens for an admission than anybody can name', async ({
    acme,
    db,
  }) => {
    const { id } = await givenEvent(acme, { oneAdmissionPerToken: true });
    await db('events').where({ id }).update({ minimum_balance: '101' });
    await acme.patch(at(id)).send({ location: 'Ely' }).expect(200);
    const { body } = await acme.patch(at(id)).send({ oneAdmissionPerToken: true }).expect(400);
    expect(body.errors[0]).toMatchObject({ pointer: '/oneAdmissionPerToken' });
    await acme.patch(at(id)).send({ minimumBalance: '100' }).expect(200);
  });

  test('changes what is sent and keeps what is absent', async ({ acme }) => {
    const { id } = await givenEvent(acme, { ...optional, ...lists });
    const before = await acme.get(at(id)).expect(200);
    const { body } = await acme.patch(at(id)).send({ price: 12.5 }).expect(200);
    expect(body).toEqual({ ...before.body, price: 12.5, updatedAt: body.updatedAt });
    expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.body.updatedAt));
    const after = await acme.get(at(id)).expect(200);
    expect(after.body).toEqual(body);
  });

  test('clears every optional field with null', async ({ acme }) => {
    const { id } = await givenEvent(acme, { ...optional, ...lists });
    const nulls = Object.fromEntries(Object.keys({ ...optional, ...lists }).map((field) => [field, null]));
    const { body } = await acme.patch(at(id)).send(nulls).expect(200);
    const noLists = Object.fromEntries(Object.keys(lists).map((field) => [field, []]));
    expect(body).toMatchObject({ name: 'Spring fair', ...nulls, ...noLists });
  });

  test('replaces an array as a whole', async ({ acme }) => {
    const { id } = await givenEvent(acme, { contractRequiredToAttend: ['a', 'b'] });
    const contractRequiredToAttend = ['c'];
    const { body } = await acme.patch(at(id)).send({ contractRequiredToAttend }).expect(200);
    expect(body.contractRequiredToAttend).toEqual(['c']);
  });

  test('takes a record that was read, edited and sent back, whatever its read-only fields say', async ({
    service,
    acme,
  }) => {
    const { id } = await givenEvent(acme, { price: 10 });
    await givenAttendees(acme, id, 'ann');
    const read = await acme.get(at(id)).expect(200);
    const readOnly = { companyId: service.companies.globex, totalAttendees: 9 };
    const { body } = await acme
      .patch(at(id))
      .send({ ...read.body, ...readOnly, name: 'Autumn fair' })
      .expect(200);
    expect(body).toEqual({ ...read.body, name: 'Autumn fair', updatedAt: body.updatedAt });
  });

  test.for([{}, { name: 'Spring fair', price: null, galleryImages: [] }])(
    'leaves the event and its tag alone when %j changes nothing',
    async (change, { acme }) => {
      const { id, etag } = await givenEvent(acme);
      const before = await acme.get(at(id)).expect(200);
      const { body, headers } = await acme.patch(at(id)).send(change).expect(200);
      expect(body).toEqual(before.body);
      expect(headers['etag']).toBe(etag);
    },
  );

  test('changes what wallets need, and null sets it back', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const flags = ['requireAll', 'proofRequired', 'oneAdmissionPerToken', 'recheckAtCheckin'];
    const set = async (flag: boolean | null, minimumBalance: string | null) => {
      const change = { ...Object.fromEntries(flags.map((name) => [name, flag])), minimumBalance };
      const { body } = await acme.patch(at(id)).send(change).expect(200);
      return [...flags.map((name) => body[name]), body.minimumBalance];
    };
    expect(await set(true, '25')).toEqual([true, true, true, true, '25']);
    expect(await set(null, null)).toEqual([false, false, false, false, '1']);
  });

  test('lowers maxAttendees down to the number of attendees', async ({ acme }) => {
    const { id } = await givenEvent(acme, { maxAttendees: 5 });
    await givenAttendees(acme, id, 'ann', 'bob');
    await acme.patch(at(id)).send({ maxAttendees: 2 }).expect(200);
    await acme.patch(at(id)).send({ name: 'Full fair' }).expect(200);
  });

  test('removes the spaces around a name', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const { body } = await acme.patch(at(id)).send({ name: '  Autumn fair\u00a0' }).expect(200);
    expect(body.name).toBe('Autumn fair');
  });

  test('makes room for more attendees by a higher maxAttendees, and by none', async ({ acme }) => {
    const { id } = await givenEvent(acme, { maxAttendees: 0 });
    await acme.patch(at(id)).send({ maxAttendees: 1 }).expect(200);
    await givenAttendees(acme, id, 'ann');
    await acme.patch(at(id)).send({ maxAttendees: null }).expect(200);
    await givenAttendees(acme, id, 'bob');
  });
});

describe('400', () => {
  test.for([
    [{ name: '\u200b' }, '/name', 'name must have a visible character'],
    [{ startDate: '2027-02-30' }, '/startDate', 'startDate must be an RFC 3339 date or date-time'],
    [{ currency: 'usd' }, '/currency', 'currency must be written in capitals: USD'],
    [{ minimumBalance: '0' }, '/minimumBalance', 'minimumBalance'],
  ] as const)('refuses %j and names the field', async ([change, pointer, detail], { acme }) => {
    const { id } = await givenEvent(acme);
    const { body } = await acme.patch(at(id)).send(change).expect(400);
    expect(body).toMatchObject({ code: 'input_invalid', errors: [{ in: 'body', pointer }] });
    expect(body.detail).toContain(detail);
  });

  test.for([
    [{ endDate: '2027-05-03' }, '/endDate', 'endDate must not be before startDate'],
    [{ startDate: '2027-05-06' }, '/startDate', 'startDate must not be after endDate'],
    [{ discountPrice: 11 }, '/discountPrice', 'discountPrice must not be above price'],
    [
      { minimumBalance: '101', oneAdmissionPerToken: true },
      '/minimumBalance',
      'minimumBalance must be at most 100 with oneAdmissionPerToken: nobody could enter',
    ],
    [{ price: 4 }, '/price', 'price must not be below discountPrice'],
  ] as const)(
    'holds the rules against the event as it would be after %j',
    async ([change, pointer, message], { acme }) => {
      const dates = { startDate: '2027-05-04', endDate: '2027-05-05' };
      const { id, etag } = await givenEvent(acme, { ...dates, price: 10, discountPrice: 5 });
      const { body } = await acme.patch(at(id)).send(change).expect(400);
      expect(body).toMatchObject({ detail: message, errors: [{ in: 'body', pointer, message }] });
      const after = await acme.get(at(id)).expect(200);
      expect(after.headers['etag']).toBe(etag);
    },
  );

  test('lets the parts of a discount change one after the other', async ({ acme }) => {
    const { id } = await givenEvent(acme, { price: 10, discountPrice: 5, discountPercentage: 50 });
    await acme.patch(at(id)).send({ price: 20 }).expect(200);
    await acme.patch(at(id)).send({ discountPrice: 10 }).expect(200);
  });

  test('lets through only one of two changes that would break a rule together', async ({ acme }) => {
    const { id } = await givenEvent(acme, { startDate: '2027-05-04', endDate: '2027-05-20' });
    const changes = [{ startDate: '2027-05-15' }, { endDate: '2027-05-10' }];
    const answers = await Promise.all(changes.map((change) => acme.patch(at(id)).send(change)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('comes before any look-up of the event', async ({ acme }) => {
    for (const change of [{ name: 5 }, { startDate: '2027-02-30' }, { chainId: 424242 }])
      await acme.patch(at(unknownId)).send(change).expect(400);
    await acme.patch(at('nonsense')).send({ name: 'x' }).expect(400);
  });
});

describe('409', () => {
  test('refuses to lower maxAttendees below the number of attendees', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const { body } = await acme.patch(at(id)).send({ maxAttendees: 1 }).expect(409);
    expect(body.code).toBe('max_attendees_too_low');
    const after = await acme.get(at(id)).expect(200);
    expect(after.body.maxAttendees).toBeNull();
  });

  test('never lets maxAttendees and the attendees pass each other', async ({ acme }) => {
    const { id } = await givenEvent(acme, { maxAttendees: 20 });
    const adds = Array.from({ length: 20 }, (_, n) =>
      acme.post(`${at(id)}/attendees`).send({ attendeeId: `user ${n}` }),
    );
    const cuts = [5, 8, 11].map((maxAttendees) => acme.patch(at(id)).send({ maxAttendees }));
    const answers = await Promise.all([...adds, ...cuts]);
    expect(answers.every(({ status }) => [200, 201, 409].includes(status))).toBe(true);
    const { body } = await acme.get(at(id)).expect(200);
    expect(body.totalAttendees).toBeLessThanOrEqual(body.maxAttendees);
  });
});
