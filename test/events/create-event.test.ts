import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { eventPath, unknownId } from './requests.ts';

const full = {
  name: 'Harvest supper',
  location: 'Long barn, Ely',
  description: 'Supper \u{1f33e} for the holders of "tallies", {all} of them',
  program: '18:00 doors\n19:00 supper',
  startDate: '2027-09-18T17:00:00.000Z',
  endDate: '2027-09-18T22:00:00.000Z',
  maxAttendees: 50,
  price: 45.5,
  currency: 'EUR',
  discountPrice: 39.8,
  discountPercentage: 12.5,
  contractRequiredToAttend: ['0x5FbDB2315678afecb367f032d93F642f64180aa3', 'a,"b"\\'],
  contractRequiredToDiscount: ['membership'],
  requireAll: true,
  minimumBalance: '100',
  proofRequired: true,
  oneAdmissionPerToken: true,
  recheckAtCheckin: true,
  coverImage: 'https://images.example.com/supper.jpg',
  galleryImages: ['http://images.example.com/1.jpg', 'https://images.example.com/2.jpg?size=big'],
  chainId: 31337,
};

const unset = {
  location: null,
  description: null,
  program: null,
  startDate: null,
  endDate: null,
  maxAttendees: null,
  price: null,
  currency: null,
  discountPrice: null,
  discountPercentage: null,
  contractRequiredToAttend: [],
  contractRequiredToDiscount: [],
  requireAll: false,
  minimumBalance: '1',
  proofRequired: false,
  oneAdmissionPerToken: false,
  recheckAtCheckin: false,
  coverImage: null,
  galleryImages: [],
  chainId: null,
};

describe('201', () => {
  test('creates an event of which only the name is known', async ({ service, acme }) => {
    const { body } = await acme.post(eventPath).send({ name: 'Spring fair' }).expect(201);
    expect(body).toMatchObject({ name: 'Spring fair', ...unset, totalAttendees: 0 });
    expect(body.companyId).toBe(service.companies.acme);
    expect(body.updatedAt).toBe(body.createdAt);
  });

  test('keeps every field as it was sent', async ({ acme }) => {
    const created = await acme.post(eventPath).send(full).expect(201);
    expect(created.body).toMatchObject(full);
    const read = await acme.get(`${eventPath}/${created.body.id}`).expect(200);
    expect(read.body).toEqual(created.body);
  });

  test('tells where the event is and which version it has', async ({ acme }) => {
    const { body, headers } = await acme.post(eventPath).send({ name: 'Spring fair' }).expect(201);
    expect(headers['location']).toBe(`${eventPath}/${body.id}`);
    const read = await acme.get(String(headers['location'])).expect(200);
    expect(read.headers['etag']).toBe(headers['etag']);
  });

  test('takes null for absent', async ({ acme }) => {
    const nulls = Object.fromEntries(Object.keys(unset).map((field) => [field, null]));
    const { body } = await acme
      .post(eventPath)
      .send({ name: 'Spring fair', ...nulls })
      .expect(201);
    expect(body).toMatchObject(unset);
  });

  test.for([
    ['2027-05-04', '2027-05-04T00:00:00.000Z'],
    ['2027-05-04T01:30:00.1234567+02:00', '2027-05-03T23:30:00.123Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ] as const)('understands the start %s as %s', async ([startDate, instant], { acme }) => {
    const { body } = await acme.post(eventPath).send({ name: 'Spring fair', startDate }).expect(201);
    expect(body.startDate).toBe(instant);
  });

  test.for([0, 0.1, 19.99, 1e-7, 123456789.123456, 1e12])(
    'gives the price %d back exactly',
    async (price, { acme }) => {
      const { text } = await acme.post(eventPath).send({ name: 'Spring fair', price }).expect(201);
      expect(JSON.parse(text).price).toBe(price);
    },
  );

  test.for([
    { startDate: '2027-05-04', endDate: '2027-05-04' },
    { price: 10, discountPrice: 10 },
    { discountPrice: 10 },
    { maxAttendees: 0 },
    { discountPercentage: 0 },
    { discountPercentage: 100 },
    { price: 30, discountPrice: 20, discountPercentage: 33 },
    { price: 0, discountPrice: 0, discountPercentage: 50 },
    { price: 0.05, discountPrice: 0.03, discountPercentage: 50, currency: 'EUR' },
    { price: 0.05, discountPrice: 0.02, discountPercentage: 50, currency: 'EUR' },
    { price: 0.05, discountPrice: 0.03, discountPercentage: 50 },
    { price: 3, discountPrice: 3, discountPercentage: 10, currency: 'JPY' },
    { price: 3, discountPrice: 2, discountPercentage: 10, currency: 'JPY' },
    { price: 0.005, discountPrice: 0.003, discountPercentage: 50, currency: 'KWD' },
    { price: 1e-7, discountPrice: 5e-8, discountPercentage: 50, currency: 'ETH' },
    { price: 999999999999.99, discountPrice: 666666666666.66, discountPercentage: 33.33333333333333 },
    { currency: 'USDC.e' },
    { minimumBalance: '9'.repeat(78) },
    { minimumBalance: '100', oneAdmissionPerToken: true },
  ])('takes %j, which is just within the rules', async (fields, { acme }) => {
    await acme
      .post(eventPath)
      .send({ name: 'Spring fair', ...fields })
      .expect(201);
  });

  test('removes the spaces around a name', async ({ acme }) => {
    const sent = { name: '\u00a0 \ufeffSpring \u200bfair\t\n' };
    const { body } = await acme.post(eventPath).send(sent).expect(201);
    expect(body.name).toBe('Spring \u200bfair');
  });

  test('ignores the read-only fields of a record that is sent back', async ({ service, acme }) => {
    const first = await acme.post(eventPath).send(full).expect(201);
    const copy = { ...first.body, companyId: service.companies.globex, totalAttendees: 40, id: unknownId };
    const { body } = await acme.post(eventPath).send(copy).expect(201);
    expect(body).toMatchObject({ ...full, companyId: service.companies.acme, totalAttendees: 0 });
    expect([first.body.id, unknownId]).not.toContain(body.id);
    const others = await service.as(service.keys.globex).get(eventPath).expect(200);
    expect(others.body).toEqual([]);
  });
});

/** Names that nobody can see, each with the message about it. */
const invisibleNames = [
  ['   ', 'name must not be empty'],
  ['\t\r\n', 'name must not be empty'],
  ['\u00a0', 'name must not be empty'],
  ['\u3000\ufeff', 'name must not be empty'],
  ['\u200b', 'name must have a visible character'],
  [' \u200b \u200f\u2060 ', 'name must have a visible character'],
  ['\u00ad', 'name must have a visible character'],
  ['\u0007\u001b', 'name must have a visible character'],
  ['\u2800', 'name must have a visible character'],
  ['\u3164\u115f', 'name must have a visible character'],
] as const;

const unlikeDiscount = [
  '/discountPercentage',
  'discountPercentage must agree with price and discountPrice to one percent, or to the smallest unit of currency',
] as const;

const refused: (readonly [object, string, string])[] = [
  ...invisibleNames.map(([name, message]) => [{ name }, '/name', message] as const),
  [{ startDate: '2027-02-29' }, '/startDate', 'startDate must be an RFC 3339 date or date-time'],
  [{ endDate: '9999-12-31T23:59:59-00:01' }, '/endDate', 'endDate must be an RFC 3339 date or date-time'],
  [{ startDate: '2027-05-04', endDate: '2027-05-03' }, '/endDate', 'endDate must not be before startDate'],
  [
    { startDate: '2027-05-04T00:00:00+02:00', endDate: '2027-05-04T00:00:00+03:00' },
    '/endDate',
    'endDate must not be before startDate',
  ],
  [{ price: 10, discountPrice: 10.01 }, '/discountPrice', 'discountPrice must not be above price'],
  [
    { minimumBalance: '101', oneAdmissionPerToken: true },
    '/minimumBalance',
    'minimumBalance must be at most 100',
  ],
  [{ price: 10, discountPrice: 5, discountPercentage: 20 }, ...unlikeDiscount],
  [{ price: 0.05, discountPrice: 0.01, discountPercentage: 50, currency: 'EUR' }, ...unlikeDiscount],
  [{ price: 0.05, discountPrice: 0.035, discountPercentage: 50 }, ...unlikeDiscount],
  [{ price: 3, discountPrice: 1, discountPercentage: 10, currency: 'JPY' }, ...unlikeDiscount],
  [{ price: 0.005, discountPrice: 0.004, discountPercentage: 50, currency: 'KWD' }, ...unlikeDiscount],
  [{ price: 0.05, discountPrice: 0.03, discountPercentage: 50, currency: 'USDC' }, ...unlikeDiscount],
  [{ price: 1e-7, discountPrice: 1e-8, discountPercentage: 50, currency: 'ETH' }, ...unlikeDiscount],
  [{ currency: 'US dollar' }, '/currency', 'currency'],
  [{ currency: 'eur' }, '/currency', 'currency must be written in capitals: EUR'],
  [{ coverImage: 'https://[' }, '/coverImage', 'coverImage must be a URL'],
  [
    { galleryImages: ['https://ok.example', 'http://:'] },
    '/galleryImages/1',
    'galleryImages/1 must be a URL',
  ],
];

describe('400', () => {
  test.for(refused)('refuses %j and names the field', async ([fields, pointer, detail], { acme }) => {
    const answer = await acme
      .post(eventPath)
      .send({ name: 'Spring fair', ...fields })
      .expect(400);
    expect(answer.body).toMatchObject({ code: 'input_invalid', errors: [{ in: 'body', pointer }] });
    expect(answer.body.detail).toContain(detail);
    expect(answer.body.detail).toBe(answer.body.errors[0].message);
  });

  test('lists every fault, the unknown network last', async ({ acme }) => {
    const faulty = {
      chainId: 424242,
      startDate: '2027-02-29',
      price: 1,
      discountPrice: 2,
      galleryImages: ['http://['],
    };
    const answer = await acme
      .post(eventPath)
      .send({ name: 'Spring fair', ...faulty })
      .expect(400);
    const pointers = answer.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).toEqual(['/startDate', '/galleryImages/0', '/discountPrice', '/chainId']);
    expect(answer.body).toMatchObject({ code: 'input_invalid', detail: answer.body.errors[0].message });
  });

  test('creates nothing', async ({ acme }) => {
    const before = await acme.get(eventPath).expect(200);
    await acme.post(eventPath).send({ name: 'x', price: 1, discountPrice: 2 }).expect(400);
    await acme.post(eventPath).send({ name: 'x', chainId: 424242 }).expect(400);
    const after = await acme.get(eventPath).expect(200);
    expect(after.headers['x-total-count']).toBe(before.headers['x-total-count']);
  });
});
