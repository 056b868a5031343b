import { brotliCompressSync, gzipSync } from 'node:zlib';
import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { fixtureApp, goodKey, id } from './support.ts';

const app = await fixtureApp();
type Content = { readonly type?: string; readonly encoding?: string; readonly path?: string };

/** Sends the bytes as they are. */
function post(body: string | Buffer | undefined, content: Content = { type: 'application/json' }) {
  const call = supertest(app)
    .post(content.path ?? '/api/thing')
    .set('x-api-key', goodKey);
  if (content.type !== undefined) call.set('content-type', content.type);
  if (content.encoding !== undefined) call.set('content-encoding', content.encoding);
  if (body === undefined) return call.send();
  // superagent would serialize a Buffer of the type JSON as an object.
  return call.serialize((value: unknown) => value as string).send(body as string); // passed on unchanged
}

const named = (name: string) => Buffer.from(`{"name":"${name}"}`);
/** A body of exactly so many bytes. */
const sized = (bytes: number) => `{"note":"${'x'.repeat(bytes - 22)}","name":"a"}`;

describe('a body that cannot be read', () => {
  test.each([
    '{',
    '{"name":}',
    "{'name':'a'}",
    '{"name":"a"} x',
    'name=a',
    '{"name":"a",}',
    '\u0000',
    'undefined',
  ])('is 400 when it is not JSON: %j', async (text) => {
    const { status, body } = await post(text);
    expect([status, body.code]).toEqual([400, 'json_malformed']);
  });

  test('is 400 when it is not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect((await post(bytes)).body.code).toBe('json_malformed');
  });

  test.each([
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/merge-patch+json',
    'application/jsonx',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
    '*/*',
    'json',
  ])('is 415 when it is sent as %s', async (type) => {
    const { status, body } = await post(named('a'), type === undefined ? {} : { type });
    expect([status, body.code]).toEqual([415, 'media_type_unsupported']);
  });

  test.each(['rot13', 'x-gzip', 'gzip, gzip'])('is 415 when it is compressed by %s', async (encoding) => {
    const { status } = await post(gzipSync(gzipSync('{}')), { type: 'application/json', encoding });
    expect(status).toBe(415);
  });

  test.each([named('a'), gzipSync(named('a')).subarray(0, 15)])(
    'is 400 when it is not what its compression says',
    async (bytes) => {
      expect((await post(bytes, { type: 'application/json', encoding: 'gzip' })).status).toBe(400);
    },
  );
});

describe('the type of a body', () => {
  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; version=1',
  ])('may be written as %s', async (type) => {
    expect((await post(named('a'), { type })).status).toBe(200);
  });

  test('does not matter where there is no body', async () => {
    expect((await post(undefined, { type: 'text/plain' })).body.detail).toBe('name is required');
  });
});

test.each([
  '\u{FEFF}{"name":"a"}',
  `{"name":"b"${',"name":"a"'.repeat(5_000)}}`,
  '{"name":"a","price":1e-400}',
])('a body is read as JSON.parse does it: %.20s', async (text) => {
  const { status, body } = await post(text);
  expect([status, body.body.name]).toEqual([200, 'a']);
});

describe('the size of a body', () => {
  test('may be 100 kB', async () => {
    expect((await post(sized(102_400))).body.detail).toMatch(/^note must be/);
  });

  test('is 413 above', async () => {
    const { status, body } = await post(sized(102_401));
    expect([status, body.code]).toEqual([413, 'body_too_large']);
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('counts after inflation: %s', async (encoding, compress) => {
    const json = { type: 'application/json', encoding };
    expect((await post(compress(named('a')), json)).status).toBe(200);
    const { status, body } = await post(compress(Buffer.from(sized(20_000_000))), json);
    expect([status, body.code]).toEqual([413, 'body_too_large']);
  });

  test('comes before the type', async () => {
    expect((await post(sized(102_401), { type: 'text/plain' })).status).toBe(413);
  });
});

describe('a missing body', () => {
  test.each([undefined, '', '  ', 'null', '{}'])('is one without its required fields: %j', async (text) => {
    const { status, body } = await post(text);
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      { location: 'body', in: 'body', pointer: '/name', message: 'name is required' },
    ]);
  });

  test('has the message of the field', async () => {
    const { body } = await supertest(app).delete('/api/thing').set('x-api-key', goodKey);
    expect(body).toMatchObject({ code: 'attendee_id_required', detail: 'Attendee ID is required' });
  });

  test.each([undefined, '', 'null'])('is fine where it is optional: %j', async (text) => {
    const { status, body } = await post(text, { type: 'application/json', path: `/api/thing/${id}/mint` });
    expect([status, 'body' in body]).toEqual([200, false]);
  });

  test('is an empty one where nothing is required', async () => {
    const { body } = await supertest(app).patch(`/api/thing/${id}`).set('x-api-key', goodKey);
    expect(body.body).toEqual({});
  });
});

describe('a body that is no object', () => {
  test.each([
    '[]',
    '"text"',
    '"{}"',
    '5',
    'true',
    '[{"name":"a"}]',
    `${'['.repeat(40_000)}${']'.repeat(40_000)}`,
  ])('is 400: %.20s', async (text) => {
    const { status, body } = await post(text);
    expect([status, body.detail]).toEqual([400, 'The body must be an object']);
  });
});

describe('a body of an operation that takes none', () => {
  test.each(['{', 'x'.repeat(200_000)])('is not looked at', async (text) => {
    const response = await post(text, { type: 'text/plain', path: '/api/thing/claim' });
    expect(response.status).toBe(200);
  });
});

describe('DELETE', () => {
  test('takes a body', async () => {
    const call = supertest(app).delete('/api/thing').set('x-api-key', goodKey);
    const { status, body } = await call.send({ attendeeId: 'user-1' });
    expect([status, body.body]).toEqual([200, { attendeeId: 'user-1' }]);
  });
});
