import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { fixtureApp, goodKey, id } from './support.ts';

const app = await fixtureApp();

/** Posts a thing; `text` is JSON as it is sent. */
function post(text: string | object) {
  const call = supertest(app).post('/api/thing').set('x-api-key', goodKey).type('application/json');
  return call.send(typeof text === 'string' ? text : JSON.stringify(text));
}

async function refused(text: string | object) {
  const { status, body } = await post(text);
  expect([status, body.code]).toEqual([400, 'input_invalid']);
  return body.errors;
}

const fault = (pointer: string, message: string) => ({ location: 'body', in: 'body', pointer, message });

describe('a field of a body', () => {
  test.each([
    ['count', '5', 'count must be an integer from 1 to 100'],
    ['count', 5.5, 'count must be an integer from 1 to 100'],
    ['count', 0, 'count must be an integer from 1 to 100'],
    ['count', true, 'count must be an integer from 1 to 100'],
    ['count', null, 'count must be an integer from 1 to 100'],
    ['price', '1', 'price must be a number from 0 to 1000 or null'],
    ['price', -0.01, 'price must be a number from 0 to 1000 or null'],
    ['note', 5, 'note must be a string of at most 10000 characters or null'],
    ['note', {}, 'note must be a string of at most 10000 characters or null'],
    ['tags', 'a', 'tags must be an array of at most 3 items or null'],
    ['tags', ['a', 'b', 'c', 'd'], 'tags must be an array of at most 3 items or null'],
    ['startsAt', 'tomorrow', 'startsAt must be an RFC 3339 date-time with an offset'],
    ['startsAt', '2026-12-31T23:59:60Z', 'startsAt must be an RFC 3339 date-time with an offset'],
    ['startsAt', '2026-02-30T00:00:00Z', 'startsAt must be an RFC 3339 date-time with an offset'],
    ['startsAt', '2026-02-03 00:00:00Z', 'startsAt must be an RFC 3339 date-time with an offset'],
    ['startsAt', '0000-02-03T00:00:00Z', 'startsAt must be an RFC 3339 date-time with an offset'],
    ['startsAt', '2026-02-03T00:00:00', 'startsAt must be an RFC 3339 date-time with an offset'],
    ['data', [], 'data must be an object'],
  ])('is never coerced: %s = %j', async (name, value, message) => {
    expect(await refused({ name: 'a', [name]: value })).toEqual([fault(`/${name}`, message)]);
  });

  test.each(['1e400', '-1e400'])('is no number when it is %s', async (text) => {
    expect(await refused(`{"name":"a","price":${text}}`)).toEqual([
      fault('/price', 'price must be a number from 0 to 1000 or null'),
    ]);
    expect(await refused(`{"name":"a","data":{"x":[${text}]}}`)).toEqual([
      fault('/data/x/0', 'data.x[0] must be a number from -9007199254740991 to 9007199254740991'),
    ]);
  });

  test('that is unknown is refused by name, with all others', async () => {
    expect(await refused('{"name":"a","x":1,"__proto__":{"y":1},"a/b":1,"constructor":1}')).toEqual([
      fault('/x', 'Unknown field: x'),
      fault('/__proto__', 'Unknown field: __proto__'),
      fault('/a~1b', 'Unknown field: a/b'),
      fault('/constructor', 'Unknown field: constructor'),
    ]);
  });

  test.each([null, ''])('that is required is missing when it is %j', async (name) => {
    expect(await refused({ name })).toEqual([fault('/name', 'name is required')]);
  });

  test('is told by its path when it is an item', async () => {
    expect(await refused({ name: 'a', tags: ['b', 5, ''] })).toEqual([
      fault('/tags/1', 'tags[1] must be a string of 1 to 10 characters'),
      fault('/tags/2', 'tags[2] must not be empty'),
    ]);
  });

  test('missing comes first, then the order of the document, then what is unknown', async () => {
    const errors = await refused({ extra: 1, price: 'x', note: 5 });
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/name',
      '/note',
      '/price',
      '/extra',
    ]);
  });

  test('of thousands that are wrong, fifty are told', async () => {
    expect(await refused({ name: 'a', tags: Array(15_000).fill(1) })).toHaveLength(50);
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
    expect(await refused({ name: 'a', ...many })).toHaveLength(50);
  });
});

describe('a read-only field', () => {
  test('is checked and then left out', async () => {
    const { status, body } = await post({ name: 'a', id, companyId: 'other' });
    expect([status, body.body]).toEqual([200, { name: 'a' }]);
  });

  test('of another type is refused', async () => {
    expect(await refused({ name: 'a', id: 5, companyId: {} })).toEqual([
      fault('/id', 'id must be a UUID'),
      fault('/companyId', 'companyId must be a string of at most 255 characters'),
    ]);
  });
});

describe('a hostile text', () => {
  test.each([
    ['"a\\u0000b"', 'name must not contain U+0000'],
    ['"a\\ud800b"', 'name must not contain lone surrogates'],
    ['"\\udc00\\ud800"', 'name must not contain lone surrogates'],
  ])('is refused: %s', async (text, message) => {
    expect(await refused(`{"name":${text}}`)).toEqual([fault('/name', message)]);
  });

  test('is refused deep inside, as a value and as a key', async () => {
    expect(await refused('{"name":"a","data":{"x":[{"y":"\\u0000"}],"\\u0000":1,"\\ud800":1}}')).toEqual([
      fault('/data/x/0/y', 'data.x[0].y must not contain U+0000'),
      fault('/data/\u0000', 'data.\u0000 must not contain U+0000'),
      fault('/data/\ufffd', 'data.\ufffd must not contain lone surrogates'),
    ]);
  });

  test.each(['😀', 'ẞ', '\u202e', '\u0001'])('is only what cannot be stored: %j is fine', async (name) => {
    expect((await post({ name })).body.body.name).toBe(name);
  });
});

describe('a free object', () => {
  const nested = (levels: number) => `{"name":"a","data":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;

  test('may be nested 20 levels and no deeper', async () => {
    expect((await post(nested(20))).status).toBe(200);
    const message = 'data must not be nested deeper than 20 levels';
    expect(await refused(nested(21))).toEqual([fault('/data', message)]);
    expect(await refused(nested(15_000))).toEqual([fault('/data', message)]);
    const arrays = `{"name":"a","data":{"a":${'['.repeat(45_000)}${']'.repeat(45_000)}}}`;
    expect(await refused(arrays)).toEqual([fault('/data', message)]);
  });

  test('may have 16 kB as JSON and no more', async () => {
    expect((await post({ name: 'a', data: { a: 'x'.repeat(16_376) } })).status).toBe(200);
    expect(await refused({ name: 'a', data: { a: 'x'.repeat(16_377) } })).toEqual([
      fault('/data', 'data must not be larger than 16384 bytes as JSON'),
    ]);
    expect(await refused({ name: 'a', data: { a: 'ä'.repeat(9_000) } })).toHaveLength(1);
  });

  test('has no field __proto__, wherever it is', async () => {
    expect(await refused('{"name":"a","data":{"x":{"__proto__":{"admin":true}}}}')).toEqual([
      fault('/data/x/__proto__', 'data.x.__proto__ is a name that must not be used'),
    ]);
  });

  test('has no number that would be changed on its way', async () => {
    expect(await refused('{"name":"a","data":{"x":12345678901234567890}}')).toHaveLength(1);
  });
});
