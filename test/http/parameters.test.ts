import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { address, fixtureApp, goodKey, id } from './support.ts';

const app = await fixtureApp();
const get = (path: string) => supertest(app).get(path).set('x-api-key', goodKey);
const listed = (query: string) => get(`/api/thing?address=${address}&chainId=1${query}`);

describe('query parameters', () => {
  test('become what the document says, and only that', async () => {
    const { body } = await listed('&limit=5&claimed=false&order=ASC');
    expect(body.query).toEqual({ address, chainId: '1', limit: 5, claimed: false, order: 'ASC' });
  });

  test('take their defaults', async () => {
    expect((await listed('')).body.query).toEqual({ address, chainId: '1', limit: 50 });
  });

  test.each(['0x10', '1e1', '%205', '5%20', '+5', '5.0', '', '٣', 'Infinity', '1_0', 'abc', '9'.repeat(400)])(
    'an integer is digits only: %s is refused or missing',
    async (text) => {
      const response = await listed(`&limit=${text}`);
      if (text === '') expect(response.body.query.limit).toBe(50);
      else expect(response.body.detail).toBe('limit must be an integer from 1 to 100');
    },
  );

  test.each(['0', '-1', '101', '99999999999999999999'])(
    'out of range is refused, never clamped: %s',
    async (text) => {
      const response = await listed(`&limit=${text}`);
      expect([response.status, response.body.detail]).toEqual([
        400,
        'limit must be an integer from 1 to 100',
      ]);
    },
  );

  test.each(['TRUE', '1', 'yes', 'True', 'null', '0'])(
    'a boolean is true or false: %s is refused',
    async (text) => {
      const response = await listed(`&claimed=${text}`);
      expect([response.status, response.body.detail]).toEqual([400, 'claimed must be true or false']);
    },
  );

  test('outside of an enum is refused with its values', async () => {
    expect((await listed('&order=asc')).body.detail).toBe('order must be one of ASC, DESC');
  });
});

describe('query parameters that nobody asked for', () => {
  test.each(['limit', 'address', 'claimed'])('given twice is refused: %s', async (name) => {
    const response = await listed(`&${name}=5&${name}=5`);
    expect(response.status).toBe(400);
    expect(response.body.errors).toContainEqual({
      location: 'query',
      in: 'query',
      name,
      message: expect.stringMatching(`${name} must be`),
    });
  });

  test('given twice with the same right value is refused all the same', async () => {
    expect((await listed('&limit=5&limit=5')).body.detail).toBe('limit must be given only once');
  });

  test.each([
    'foo',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'Limit',
    'limit[]',
    'limit%5B%5D',
    '',
  ])('unknown is refused by name: %s', async (name) => {
    const response = await listed(`&${name}=1`);
    const decoded = decodeURIComponent(name);
    expect([response.status, response.body.detail]).toEqual([400, `Unknown query parameter: ${decoded}`]);
  });

  test('that nobody else has are refused on operations without any', async () => {
    expect((await get(`/api/thing/${id}?x=1`)).body.errors).toEqual([
      { location: 'query', in: 'query', name: 'x', message: 'Unknown query parameter: x' },
    ]);
  });

  test('a name of any length is told short', async () => {
    const response = await listed(`&${'x'.repeat(5_000)}=1`);
    expect(response.body.detail.length).toBeLessThan(150);
  });

  test.each(['%zz', '%', '%E0%A4%A', '%FF', '%ED%A0%80'])(
    'with a bad percent-encoding are refused: %s',
    async (text) => {
      const value = await listed(`&order=${text}`);
      expect([value.status, value.body.detail]).toEqual([400, 'order has an invalid percent-encoding']);
      expect((await listed(`&${text}=1`)).body.detail).toBe(`${text} has an invalid percent-encoding`);
    },
  );

  test('with a bad percent-encoding are not called missing where they are required', async () => {
    const response = await get('/api/thing?address=%zz&chainId=1');
    expect(response.body).toMatchObject({
      code: 'input_invalid',
      detail: 'address has an invalid percent-encoding',
      errors: [{ location: 'query', in: 'query', name: 'address' }],
    });
    expect(response.body.errors).toHaveLength(1);
  });

  test('with U+0000 are refused', async () => {
    const response = await get(`/api/thing?address=${address}&chainId=%00`);
    expect(response.body.errors).toEqual([
      { location: 'query', in: 'query', name: 'chainId', message: 'chainId must not contain U+0000' },
    ]);
  });

  test('read + as a space and leave empty pieces out', async () => {
    expect((await get(`/api/thing?&address=${address}&&chainId=a+b&`)).body.query.chainId).toBe('a b');
  });
});

describe('a missing parameter', () => {
  test.each(['', 'address', 'address='])(
    'has its own message and code, absent or empty: ?%s',
    async (query) => {
      const response = await get(`/api/thing?chainId=1&${query}`);
      expect(response.status).toBe(400);
      expect(response.body).toMatchObject({
        code: 'address_required',
        detail: 'Address is required',
        errors: [{ location: 'query', in: 'query', name: 'address', message: 'Address is required' }],
      });
    },
  );

  test('comes before one that is malformed, whatever the order', async () => {
    const { body } = await get('/api/thing?foo=1&address=0x1&limit=x');
    expect(body.code).toBe('network_id_required');
    expect(body.errors).toEqual([
      { location: 'query', in: 'query', name: 'chainId', message: 'Network ID is required' },
      { location: 'query', in: 'query', name: 'address', message: 'address must be 0x and 40 hex digits' },
      { location: 'query', in: 'query', name: 'limit', message: 'limit must be an integer from 1 to 100' },
      { location: 'query', in: 'query', name: 'foo', message: 'Unknown query parameter: foo' },
    ]);
  });

  test('comes first in the order of the document', async () => {
    expect((await get('/api/thing')).body.errors.map((error: { name: string }) => error.name)).toEqual([
      'address',
      'chainId',
    ]);
  });

  test('that is optional is absent when it is empty', async () => {
    expect((await listed('&claimed=&order=')).body.query).not.toHaveProperty('claimed');
  });
});

describe('path parameters', () => {
  test.each([
    'x',
    '__proto__',
    'a;b=c',
    'urn:uuid:3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11',
    `${id}0`,
    `${id}%00`,
    '%20',
    `{${id}}`,
  ])('of another form are refused by name: %s', async (text) => {
    const response = await get(`/api/thing/${text}`);
    expect([response.status, response.body.detail]).toEqual([400, 'id must be a UUID']);
  });

  test('in any case are UUIDs, which handlers get in lower case', async () => {
    const { status, body } = await get(`/api/thing/${id.toUpperCase()}`);
    expect([status, body.path]).toEqual([200, { id }]);
  });

  test.each(['%zz', '%', '%FF', '%C0%AF', '%E0%80%AF', '%ED%A0%80'])(
    'with a bad percent-encoding are refused once the key is good: %s',
    async (text) => {
      const response = await get(`/api/thing/${text}?unknown=1`);
      expect([response.status, response.body.code]).toEqual([400, 'path_malformed']);
      expect((await supertest(app).get(`/api/thing/${text}`)).status).toBe(401);
    },
  );

  test('may hold an encoded slash, which does not split the path', async () => {
    expect((await get(`/api/thing/${id}/part/a%2Fb`)).body.path).toEqual({ id, name: 'a/b' });
  });

  test('with U+0000 are refused', async () => {
    expect((await get(`/api/thing/${id}/part/a%00b`)).body.detail).toBe('name must not contain U+0000');
  });

  test('come before query parameters', async () => {
    const { body } = await get('/api/thing/x?y=1');
    expect(body.errors.map((error: { in: string }) => error.in)).toEqual(['path', 'query']);
  });

  test('lead to no file: dots are a malformed id or another path', async () => {
    expect((await get('/api/thing/..%2F..%2Fetc')).status).toBe(400);
  });
});

describe('header parameters', () => {
  const post = (headers: Record<string, string | string[]>) => {
    const call = supertest(app).post('/api/thing').set('x-api-key', goodKey);
    // supertest's types know single values only; Node sends an array as repeated headers.
    for (const [name, value] of Object.entries(headers)) call.set(name, value as string);
    return call.send({ name: 'a' });
  };

  test('come under the name of the document', async () => {
    expect((await post({ 'IDEMPOTENCY-KEY': 'a, b' })).body.header).toEqual({ 'Idempotency-Key': 'a, b' });
  });

  test.each(['', 'x'.repeat(256)])('out of bounds are refused', async (value) => {
    const { status, body } = await post({ 'idempotency-key': value });
    expect(status).toBe(400);
    expect(body.errors[0]).toMatchObject({ location: 'header', in: 'header', name: 'Idempotency-Key' });
  });

  test('given twice are refused', async () => {
    expect((await post({ 'idempotency-key': ['a', 'b'] })).body.detail).toBe(
      'Idempotency-Key must be given only once',
    );
  });
});
