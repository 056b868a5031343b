import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { test as base, perFile } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { open, send } from './raw-client.ts';

const events = '/events/v1/api/event';

/** Requests with the key of acme, to the events unless told otherwise. */
function createRaw({ baseUrl, keys }: TestService) {
  const port = Number(new URL(baseUrl).port);
  const key = `x-api-key: ${keys.acme}\r\n`;
  const head = (line: string, headers = '') => `${line} HTTP/1.1\r\nhost: x\r\n${key}${headers}\r\n`;
  return {
    port,
    key,
    head,
    get: (headers = '') => head(`GET ${events}?limit=1`, headers),
    post: (body: string) =>
      head(
        `POST ${events}`,
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`,
      ) + body,
    send: (bytes: string | Buffer, answers = 1) => send(port, bytes, answers),
  };
}
type Raw = ReturnType<typeof createRaw>;

const test = base.extend('raw', perFile, ({ service }) => createRaw(service));

const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const codeOf = (text: string) => /"code":"(\w+)"/.exec(text)?.[1];

/** The process goes on as before: it answers the next request. */
async function expectHealthy(raw: Raw): Promise<void> {
  expect(statuses(await raw.send(raw.get()))).toEqual([200]);
}

test('a request that is hidden in a body is never carried out, also when the body is not read', async ({
  service,
  raw,
}) => {
  const hidden = raw.post('{"name":"smuggled"}');
  const refused = raw.post(hidden).replace(service.keys.acme, 'nobody');
  expect(statuses(await raw.send(refused + raw.get(), 2))).toEqual([401, 200]);
  expect(statuses(await raw.send(raw.post(hidden) + raw.get(), 2))).toEqual([400, 200]);
  expect(await service.db('events').where({ name: 'smuggled' })).toEqual([]);
});

describe('a length that lies', () => {
  test('by being too small makes the rest another request, which is none', async ({ raw }) => {
    const short = raw.post('{"name":""}').replace('content-length: 11', 'content-length: 5');
    const answers = await raw.send(short, 2);
    expect(statuses(answers)).toEqual([400, 400]);
    expect(answers).toContain('http_malformed');
    await expectHealthy(raw);
  });

  test('by being too large, from a caller who then hangs up, harms nobody', async ({ service, raw }) => {
    const socket = open(raw.port);
    const long = raw.post('{"name":"never"}').replace('content-length: 16', 'content-length: 999');
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.write(long, () => setImmediate(() => socket.destroy()));
    });
    await expectHealthy(raw);
    expect(await service.db('events').where({ name: 'never' })).toEqual([]);
  });

  test.for(['-1', '+5', '0x10', '5, 5', '5 5', '1e1', '99999999999999999999999', ''])(
    'is no HTTP when it is %j',
    async (length, { raw }) => {
      const answer = await raw.send(raw.head(`POST ${events}`, `content-length: ${length}\r\n`));
      expect([statuses(answer)[0], codeOf(answer)]).toEqual([400, 'http_malformed']);
    },
  );
});

describe('a transfer encoding', () => {
  const sent = (raw: Raw, encoding: string, body: string) =>
    raw.head(`POST ${events}`, `content-type: application/json\r\ntransfer-encoding: ${encoding}\r\n`) + body;

  test.for([
    ['chunked, identity', '2\r\n{}\r\n0\r\n\r\n'],
    ['xchunked', '2\r\n{}\r\n0\r\n\r\n'],
    ['chunked', '-2\r\n{}\r\n0\r\n\r\n'],
    ['chunked', '2\r\n{}x\r\n0\r\n\r\n'],
    ['chunked', 'ffffffffffffffffff\r\n{}'],
    ['chunked', '2 \r\n{}\r\n0\r\n\r\n'],
    ['chunked', '\r\n\r\n'],
  ] as const)(
    'that is broken ends the connection with a problem: %s %j',
    async ([encoding, body], { raw }) => {
      const answer = await raw.send(sent(raw, encoding, body));
      expect([statuses(answer), codeOf(answer)]).toEqual([[400], 'http_malformed']);
      expect(answer).toMatch(/connection: close/i);
      await expectHealthy(raw);
    },
  );

  test('with trailers is read, and the trailers are not', async ({ raw }) => {
    const answer = await raw.send(sent(raw, 'chunked', '2\r\n{}\r\n0\r\nx-api-key: nobody\r\n\r\n'));
    expect(answer).toContain('name is required');
  });
});

describe('headers', () => {
  test.for([undefined, 'x-api-key: nobody\r\n', 'X-API-KEY: \r\n'])(
    'with a key beside the key are 401: %#',
    async (more, { raw }) => {
      const answer = await raw.send(raw.get(more ?? raw.key));
      expect([statuses(answer), codeOf(answer)]).toEqual([[401], 'api_key_invalid']);
    },
  );

  test('of other names that repeat the key change nothing', async ({ raw }) => {
    expect(
      statuses(await raw.send(raw.get('x_api_key: nobody\r\nauthorization: Bearer nobody\r\n'))),
    ).toEqual([200]);
  });

  test('by the thousand are answered', async ({ raw }) => {
    const many = Array.from({ length: 1_500 }, (_, index) => `a${index}: 1\r\n`).join('');
    expect([200, 431]).toContain(statuses(await raw.send(raw.get(many)))[0]);
    await expectHealthy(raw);
  });

  test.for([
    'accept: application/xml\r\n',
    'accept: */*;q=0\r\n',
    'accept: \r\n',
    'accept: a/b/c,,;;q=x\r\n',
    'accept-encoding: identity;q=0\r\n',
    'accept-encoding: br;q=1, gzip;q=x, *\r\n',
    'accept-charset: utf-16\r\n',
    'range: bytes=0-0\r\n',
    'if-none-match: *\r\n',
    'if-modified-since: never\r\n',
    'x-http-method-override: DELETE\r\n',
    'cookie: a=b; __proto__=c\r\n',
    'content-encoding: rot13\r\n',
  ])('that ask for something else get the one form there is: %s', async (more, { raw }) => {
    const answer = await raw.send(raw.get(more));
    expect(statuses(answer)).toEqual([200]);
    expect(answer).toMatch(/content-type: application\/json/i);
    expect(answer).not.toMatch(/content-encoding|transfer-encoding/i);
  });

  test.for([
    'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\nsec-websocket-version: 13\r\n',
    'connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n',
  ])('that ask for another protocol get an answer in this one: %s', async (more, { raw }) => {
    expect(statuses(await raw.send(raw.get(more)))).toEqual([200]);
    await expectHealthy(raw);
  });
});

describe('a request of another kind', () => {
  test('of HTTP/1.0 is answered, and its connection ends', async ({ raw }) => {
    const answer = await raw.send(raw.get().replace('HTTP/1.1', 'HTTP/1.0'));
    expect(statuses(answer)).toEqual([200]);
    expect(answer).toMatch(/connection: close/i);
  });

  test('of HTTP/2 is none of this protocol', async ({ raw }) => {
    expect(statuses(await raw.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'))[0]).toBe(400);
  });
});

describe('a body', () => {
  test('that is a bomb is refused before its end, which would be damaged compression', async ({ raw }) => {
    const bomb = gzipSync(Buffer.alloc(100_000_000, 0x20), { level: 9 }).subarray(0, 90_000);
    const headers = `content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n`;
    const bytes = Buffer.concat([Buffer.from(raw.head(`POST ${events}`, headers)), bomb]);
    expect(statuses(await raw.send(bytes))).toEqual([413]);
  });

  test('of tens of thousands of wrong values is refused for their number, and no validator tells of each', async ({
    raw,
  }) => {
    const body = (count: number) => `{"name":"a","galleryImages":[${'0,'.repeat(count - 1)}0]}`;
    const few = await raw.send(raw.post(body(15_000)));
    expect(few).toContain('galleryImages[0]');
    const many = await raw.send(raw.post(body(45_000)));
    expect([statuses(many), codeOf(many)]).toEqual([[400], 'input_invalid']);
    expect(many).toContain('The body must have no more than 20000 values');
    expect(many).not.toContain('galleryImages');
  });

  test('with names of built-in properties in a free object comes back as it was', async ({ service }) => {
    const { acme } = service.companies;
    const place = { chain_id: 31337, contract_address: '0x5FbDB2315678afecb367f032d93F642f64180aa3' };
    const rwa = { ...place, company_id: acme, name: 'Cask', type: 'whisky', is_claimable: true };
    const [{ id }] = await service.db('rwas').insert(rwa).returning('id');
    const data = {
      constructor: { prototype: { polluted: true } },
      toString: 'x',
      hasOwnProperty: 1,
      valueOf: null,
    };
    const client = service.as(service.keys.acme);
    const made = await client.post(`/v1/api/rwa/${id}/mint`).send({ data });
    const read = await client.get(`/v1/api/nft/${made.body.nftId}`);
    expect([read.status, read.body.data]).toEqual([200, data]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
