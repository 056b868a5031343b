import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService();
const { port } = new URL(service.baseUrl);
afterAll(() => service.close());

/** Sends bytes and gives all that comes back until so many answers have come or the connection ends. */
function send(bytes: string | Buffer, answers = 1): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let all = '';
    const done = () => {
      socket.destroy();
      resolve(all);
    };
    socket.on('data', (chunk) => {
      all += chunk.toString('latin1');
      if (wholeAnswers(all) >= answers) done();
    });
    socket.once('end', done);
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? done() : reject(error),
    );
    socket.write(bytes);
  });
}

/** How many answers with all of their bodies are in a text. */
function wholeAnswers(text: string): number {
  let count = 0;
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return count;
    const head = rest.slice(0, end);
    const length = /^HTTP\/1\.1 (1\d\d|204)/.test(head)
      ? 0
      : Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (rest.length < end + 4 + length) return count;
    rest = rest.slice(end + 4 + length);
    if (!head.startsWith('HTTP/1.1 1')) count += 1;
  }
}

const key = `x-api-key: ${service.keys.acme}\r\n`;
const events = '/events/v1/api/event';
const head = (line: string, headers = '') => `${line} HTTP/1.1\r\nhost: x\r\n${key}${headers}\r\n`;
const get = (headers = '', path = `${events}?limit=1`) => head(`GET ${path}`, headers);
const post = (body: string, headers = '') =>
  head(
    `POST ${events}`,
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}`,
  ) + body;
const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const codeOf = (text: string) => /"code":"(\w+)"/.exec(text)?.[1];

/** The process goes on as before: it answers the next request. */
async function expectHealthy(): Promise<void> {
  expect(statuses(await send(get()))).toEqual([200]);
}

describe('pipelined requests', () => {
  test('are answered one after another, each with its own answer', async () => {
    const answers = await send(
      get('x-request-id: a\r\n') + post('{"name":""}', 'x-request-id: b\r\n') + get('x-request-id: c\r\n'),
      3,
    );
    expect(statuses(answers)).toEqual([200, 400, 200]);
    expect([...answers.matchAll(/x-request-id: (\w)/gi)].map(([, id]) => id)).toEqual(['a', 'b', 'c']);
  });

  test('hidden in a body are never carried out, also when the body is not read', async () => {
    const hidden = post('{"name":"smuggled"}');
    const refused = post(hidden).replace(service.keys.acme, 'nobody');
    expect(statuses(await send(refused + get(), 2))).toEqual([401, 200]);
    expect(statuses(await send(post(hidden) + get(), 2))).toEqual([400, 200]);
    expect(await service.db('events').where({ name: 'smuggled' })).toEqual([]);
  });
});

describe('a length that lies', () => {
  test('by being too small makes the rest another request, which is none', async () => {
    const short = post('{"name":""}').replace('content-length: 11', 'content-length: 5');
    const answers = await send(short, 2);
    expect(statuses(answers)).toEqual([400, 400]);
    expect(answers).toContain('http_malformed');
    await expectHealthy();
  });

  test('by being too large, from a caller who then hangs up, harms nobody', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(post('{"name":"never"}').replace('content-length: 16', 'content-length: 999'), () =>
        setImmediate(() => socket.destroy()),
      );
      socket.once('close', () => resolve());
    });
    await expectHealthy();
    expect(await service.db('events').where({ name: 'never' })).toEqual([]);
  });

  test.each(['-1', '+5', '0x10', '5, 5', '5 5', '1e1', '99999999999999999999999', ''])(
    'is no HTTP when it is %j',
    async (length) => {
      const answer = await send(head(`POST ${events}`, `content-length: ${length}\r\n`));
      expect([statuses(answer)[0], codeOf(answer)]).toEqual([400, 'http_malformed']);
    },
  );
});

describe('a transfer encoding', () => {
  const sent = (encoding: string, body: string) =>
    head(`POST ${events}`, `content-type: application/json\r\ntransfer-encoding: ${encoding}\r\n`) + body;

  test.each([
    ['chunked, identity', '2\r\n{}\r\n0\r\n\r\n'],
    ['xchunked', '2\r\n{}\r\n0\r\n\r\n'],
    ['chunked', '-2\r\n{}\r\n0\r\n\r\n'],
    ['chunked', '2\r\n{}x\r\n0\r\n\r\n'],
    ['chunked', 'ffffffffffffffffff\r\n{}'],
    ['chunked', '2 \r\n{}\r\n0\r\n\r\n'],
    ['chunked', '\r\n\r\n'],
  ])('that is broken ends the connection with a problem: %s %j', async (encoding, body) => {
    const answer = await send(sent(encoding, body));
    expect([statuses(answer), codeOf(answer)]).toEqual([[400], 'http_malformed']);
    expect(answer).toMatch(/connection: close/i);
    await expectHealthy();
  });

  test('with trailers is read, and the trailers are not', async () => {
    const answer = await send(sent('chunked', '2\r\n{}\r\n0\r\nx-api-key: nobody\r\n\r\n'));
    expect(answer).toContain('name is required');
  });
});

describe('headers', () => {
  test.each([`${key}`, 'x-api-key: nobody\r\n', 'X-API-KEY: \r\n'])(
    'with a key beside the key are 401: %#',
    async (more) => {
      const answer = await send(get(more));
      expect([statuses(answer), codeOf(answer)]).toEqual([[401], 'api_key_invalid']);
    },
  );

  test('of other names that repeat the key change nothing', async () => {
    expect(statuses(await send(get('x_api_key: nobody\r\nauthorization: Bearer nobody\r\n')))).toEqual([200]);
  });

  test('by the thousand are answered', async () => {
    const many = Array.from({ length: 1_500 }, (_, index) => `a${index}: 1\r\n`).join('');
    expect([200, 431]).toContain(statuses(await send(get(many)))[0]);
    await expectHealthy();
  });

  test.each([
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
  ])('that ask for something else get the one form there is: %s', async (more) => {
    const answer = await send(get(more));
    expect(statuses(answer)).toEqual([200]);
    expect(answer).toMatch(/content-type: application\/json/i);
    expect(answer).not.toMatch(/content-encoding|transfer-encoding/i);
  });

  test.each([
    'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\nsec-websocket-version: 13\r\n',
    'connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n',
  ])('that ask for another protocol get an answer in this one: %s', async (more) => {
    expect(statuses(await send(get(more)))).toEqual([200]);
    await expectHealthy();
  });
});

describe('a request of another kind', () => {
  test('of HTTP/1.0 is answered, and its connection ends', async () => {
    const answer = await send(get().replace('HTTP/1.1', 'HTTP/1.0'));
    expect(statuses(answer)).toEqual([200]);
    expect(answer).toMatch(/connection: close/i);
  });

  test.each(['TRACE', 'PROPFIND', 'QUERY'])(
    '%s is 405 with Allow, and shows no header of the request',
    async (method) => {
      const answer = await send(head(`${method} ${events}`, 'content-length: 0\r\n'));
      expect(statuses(answer)).toEqual([405]);
      expect(answer).toMatch(/^allow: GET, POST\r$/im);
      expect(answer).not.toContain(service.keys.acme);
    },
  );

  test('of HTTP/2 is none of this protocol', async () => {
    expect(statuses(await send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'))[0]).toBe(400);
  });
});

describe('a path', () => {
  test.each([
    ['%00', 400],
    ['%C0%AF', 400],
    ['%E0%80%AF', 400],
    ['%ED%A0%80', 400],
    ['%2e%2e%2f%2e%2e%2fetc%2fpasswd', 400],
    ['..', 400],
    ['__proto__', 400],
    ['constructor', 400],
    [`${'a'.repeat(8_000)}`, 400],
    ['a/b/c/d', 404],
    ['a//b', 404],
    ['a;b=c', 400],
  ])('to an event called %s is refused', async (name, status) => {
    const answer = await send(get('', `${events}/${name}`));
    expect(statuses(answer)).toEqual([status]);
    expect(answer).toContain('application/problem+json');
  });
});

describe('a body', () => {
  const compressed = (body: Buffer, encoding = 'gzip') =>
    Buffer.concat([
      Buffer.from(
        head(
          `POST ${events}`,
          `content-type: application/json\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n`,
        ),
      ),
      body,
    ]);

  test('that is a bomb is refused before its end, which would be damaged compression', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000, 0x20), { level: 9 });
    expect(statuses(await send(compressed(bomb.subarray(0, 90_000))))).toEqual([413]);
  });

  test.each([
    ['gzip, gzip', 415],
    ['x-gzip', 415],
    ['gzip', 400],
  ])('packed as %s, which it is not or not alone, is %i', async (encoding, status) => {
    const body = encoding === 'gzip' ? gzipSync('{"name":"a"}').subarray(0, 15) : gzipSync(gzipSync('{}'));
    expect(statuses(await send(compressed(body, encoding)))).toEqual([status]);
  });

  test.each([
    ['{"name":"a","__proto__":{"companyId":"x"}}', 400],
    ['{"__proto__":{"name":"a"}}', 400],
    ['{"constructor":{"prototype":{"name":"a"}}}', 400],
    [`${'['.repeat(50_000)}`, 400],
    [`{"name":${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}}`, 400],
    [`{"name":"a"${',"name":"b"'.repeat(5_000)}}`, 201],
    ['{"name":"a","price":1e-400}', 201],
    ['{"name":"\\u0000"}', 400],
    ['{"name":"\\ud800"}', 400],
    ['\u{FEFF}{"name":"a"}', 201],
  ])('%.40s is %i and changes no object of ours', async (body, status) => {
    expect(statuses(await send(post(body)))).toEqual([status]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)['companyId']).toBeUndefined();
  });

  test('with names of built-in properties in a free object comes back as it was', async () => {
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

test('after all of it the service is healthy', async () => {
  await expectHealthy();
  expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200);
});
