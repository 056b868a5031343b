import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex, Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createPortalRouter } from '../../src/http/mounts/portal.ts';
import { createPortalReader } from '../../src/http/mounts/portal-files.ts';
import { type ConnectionLimits, limitConnections } from '../../src/http/server/connections.ts';
import type { HttpServer } from '../../src/http/server/listener.ts';
import { deployment, unpaced } from '../portal/portal-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { listenHere } from './support.ts';

const log = createLogger({ level: 'silent' });
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(handler: RequestListener, limits: Partial<ConnectionLimits> = {}): Promise<HttpServer> {
  const server = await listenHere(express().use(handler), { limits });
  ends.push(() => server.stop(0));
  return server;
}

/** A caller that reads nothing of what it gets, unless it is told to. */
function call(
  server: HttpServer,
  text = '',
  localAddress = '127.0.0.1',
): Socket & { readonly closed: boolean } {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
  socket.pause();
  socket.on('error', () => {});
  if (text !== '') socket.write(text);
  ends.push(() => socket.destroy());
  return socket;
}

/** A folder with a portal of one page. */
async function portalOf(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tallystick-portal-'));
  ends.push(() => rm(directory, { recursive: true }));
  const files = { 'page.html': { type: 'text/html', digest: '1' } };
  await writeFile(join(directory, 'page.html'), text);
  await writeFile(join(directory, 'manifest.json'), JSON.stringify({ files }));
  return directory;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

describe('a caller that leaves before its pipelined answers', () => {
  test('leaves no file of the portal open', async () => {
    const directory = await portalOf('x'.repeat(2_000_000));
    const app = express().use('/docs', createPortalRouter({ directory, deployment, pace: unpaced }));
    const server = await start(app);
    const callers = Array.from({ length: 10 }, () => call(server, get('/docs/page').repeat(8)));
    await Promise.all(callers.map((caller) => new Promise((resolve) => caller.once('readable', resolve))));
    for (const caller of callers) caller.destroy();
    const openFiles = () =>
      readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory) ? [fd] : [];
        } catch {
          return []; // closed meanwhile
        }
      });
    await waitFor(() => expect(openFiles()).toEqual([]));
  });

  test('has them not begun', async () => {
    const seen: ServerResponse[] = [];
    const isOver = Promise.withResolvers<void>();
    const server = await start((request, response) => {
      seen.push(response);
      request.socket.once('close', () => setImmediate(isOver.resolve));
    });
    const caller = call(server, get('/').repeat(5));
    await waitFor(() => expect(seen).toHaveLength(1));
    caller.destroy();
    await isOver.promise;
    expect(seen.map(({ closed: isClosed }) => isClosed)).toEqual([true]);
  });
});

test('pipelined requests are begun one after the other, each when the answer before it has gone', async () => {
  const seen: { url: string | undefined; response: ServerResponse }[] = [];
  const server = await start(({ url }, response) => seen.push({ url, response }));
  const caller = call(server, get('/a') + get('/b') + get('/c'));
  for (const url of ['/a', '/b', '/c']) {
    await waitFor(() => expect(seen.at(-1)?.url).toBe(url));
    seen.at(-1)?.response.end(url);
  }
  // On the same connection, after all of them.
  caller.write(get('/d'));
  await waitFor(() => expect(seen.map(({ url }) => url)).toEqual(['/a', '/b', '/c', '/d']));
});

describe('behind an answer that closes its connection', () => {
  const head = (line: string, more = '') => `${line} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;

  test.for([
    ['no further request is begun', get('/b')],
    [
      'none is begun that CONNECT follows, of which Node would never say that it is over',
      `${head('HEAD /b')}${head('CONNECT x:80')}`,
    ],
  ])('%s', async ([_, following]) => {
    const seen: (string | undefined)[] = [];
    const server = await start(({ url }, response) => {
      seen.push(url);
      response.setHeader('Connection', 'close').end('a');
    });
    const caller = call(server, `${head('GET /a', 'expect: 100-continue\r\n')}${following}`).resume();
    await closed(caller);
    // Whatever that connection might have begun was begun before this one.
    await closed(call(server, get('/last')).resume());
    expect(seen).toEqual(['/a', '/last']);
  });
});

test('what is asked for by many at once is read once', async () => {
  const read = createPortalReader(await portalOf('x'), deployment);
  const portals = await Promise.all(Array.from({ length: 20 }, read));
  expect(new Set(portals).size).toBe(1);
  expect(portals[0]?.files.size).toBe(1);
});

test('an idle connection keeps nothing of its last answer', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  let last: WeakRef<ServerResponse> | undefined;
  const server = await start((_request, response) => {
    last = new WeakRef(response);
    response.end('done');
  });
  const caller = call(server, get('/'));
  await new Promise((resolve) => caller.once('readable', resolve));
  await waitFor(() => {
    collectGarbage();
    // Not the response itself: the error of a failed try would keep it for the next one.
    expect(last?.deref() === undefined).toBe(true);
  });
  expect(caller.closed).toBe(false);
});

describe('a connection is closed', () => {
  test('when its caller reads nothing for the time to write', async () => {
    const answered = Promise.withResolvers<boolean>();
    const server = await start(
      (_request, response) => {
        response.once('close', () => answered.resolve(response.writableFinished));
        response.end(Buffer.alloc(30_000_000));
      },
      { writeTimeoutMs: 100, leastBytesPerSecond: 100_000_000 },
    );
    call(server, get('/'));
    expect(await answered.promise).toBe(false);
  });

  test('when it pipelines more requests than it may', async () => {
    const server = await start(() => {}, { pipelined: 10 });
    const modest = call(server, get('/').repeat(10));
    await closed(call(server, get('/').repeat(11)).resume());
    expect(modest.closed).toBe(false);
  });

  test('and not for what it has sent before and was answered', async () => {
    const server = await start((_request, response) => response.end('done'));
    const text = `GET / HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(12 * 1_024)}\r\n\r\n`.repeat(3);
    const caller = call(server).resume();
    let answers = 0;
    caller.on('data', (chunk) => {
      answers += String(chunk).match(/HTTP\/1.1 200/g)?.length ?? 0;
    });
    for (const wanted of [3, 6, 9, 12]) {
      caller.write(text);
      await waitFor(() => expect(answers).toBe(wanted));
    }
    expect(caller.closed).toBe(false);
  });

  test('when there are more in all than there may be, of whatever addresses, until one of them is over', async () => {
    const server = await start((_request, response) => response.end('done'), { total: 3, perAddress: 2 });
    const from = (last: number) => call(server, get('/'), `127.0.0.${last}`);
    const outcomeOf = (socket: Socket) =>
      Promise.race([
        closed(socket).then(() => 'closed'),
        new Promise((resolve) => socket.once('data', () => resolve('answered')).resume()),
      ]);
    const open = [from(2), from(3), from(4)];
    expect(await Promise.all(open.map(outcomeOf))).toEqual(['answered', 'answered', 'answered']);
    expect(await outcomeOf(from(5))).toBe('closed');
    expect(open.map((socket) => socket.closed)).toEqual([false, false, false]);
    open[0]?.destroy();
    await waitFor(async () => expect(await outcomeOf(from(5))).toBe('answered'));
  });

  test('but not when its address is that of a proxy, whose callers are many', async () => {
    const isProxy = (address = '') => address === '127.0.0.1';
    const server = await start((_request, response) => response.end('done'), { perAddress: 1, isProxy });
    const answered = (socket: Socket) => new Promise((resolve) => socket.once('data', resolve).resume());
    await Promise.all([1, 2, 3].map(() => answered(call(server, get('/')))));
  });

  // The listener itself ends a connection without a request after 15 s: the address limit has to be sooner.
  test('when its address has more than it may', { timeout: 12_000 }, async () => {
    const server = await start(() => {}, { perAddress: 3 });
    const first = [call(server), call(server), call(server)];
    await Promise.all(first.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    await closed(call(server).resume());
    expect(first.map((socket) => socket.closed)).toEqual([false, false, false]);
    first[0]?.destroy();
    await waitFor(async () => {
      const next = call(server, get('/'));
      const outcome = await Promise.race([
        closed(next.resume()),
        new Promise((resolve) => setImmediate(resolve, 'open')),
      ]);
      expect(outcome).toBe('open');
    });
  });
});

test('addresses of one IPv6 network count as one', () => {
  const server = createServer();
  const limits = {
    total: 10,
    perAddress: 2,
    isProxy: () => false,
    pipelined: 1,
    writeTimeoutMs: 1_000,
    leastBytesPerSecond: 1,
  };
  limitConnections(server, limits, log);
  const open = (remoteAddress: string) => {
    const socket = Object.assign(new Duplex({ read() {} }), { remoteAddress, setTimeout() {} });
    server.emit('connection', socket as unknown as Socket);
    return socket;
  };
  const ofOne = ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:3::'].map(open);
  expect([...ofOne, open('2001:db8:1:3::1')].map(({ destroyed }) => destroyed)).toEqual([
    false,
    false,
    true,
    false,
  ]);
});

test('a caller that waits for a slow answer is let be', async () => {
  const slow = Promise.withResolvers<void>();
  const server = await start(
    async (_request, response) => {
      await slow.promise;
      response.end(Buffer.alloc(3_000_000));
    },
    { writeTimeoutMs: 100 },
  );
  const waiting = readAt(call(server, get('/')), Number.POSITIVE_INFINITY, 3_000_000);
  setTimeout(slow.resolve, 350);
  expect(await waiting).toBeGreaterThanOrEqual(3_000_000);
});

/** Reads so much ten times a second, until it has as much as it wants or the connection ends. */
async function readAt(socket: Socket, bytesPerSecond: number, wanted: number): Promise<number> {
  let bytes = 0;
  let [due, ended] = [bytesPerSecond / 10, false];
  socket.once('close', () => {
    ended = true;
  });
  socket.on('data', ({ length }) => {
    bytes += length;
    if (bytes >= due) socket.pause();
  });
  socket.resume();
  while (!ended && bytes < wanted) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    due = bytes + bytesPerSecond / 10;
    socket.resume();
  }
  return bytes;
}

describe('a caller that never stops to read', () => {
  const length = 40_000_000;
  // The kernel takes some MB at a time, so slower ones could not be told from those that read nothing.
  const bytesPerSecond = 20_000_000;
  const kinds: [string, (response: ServerResponse) => void][] = [
    ['in one large write', (response) => response.end(Buffer.alloc(length))],
    [
      'in many',
      (response) =>
        Readable.from(Array.from({ length: 400 }, () => Buffer.alloc(length / 400))).pipe(response),
    ],
  ];

  test.each(kinds)('is let be at the least pace: %s', async (_kind, write) => {
    const limits = { writeTimeoutMs: 500, leastBytesPerSecond: bytesPerSecond / 4 };
    const server = await start((_request, response) => write(response), limits);
    expect(await readAt(call(server, get('/')), bytesPerSecond, length)).toBeGreaterThanOrEqual(length);
  });

  test.each(kinds)('is cut when it takes less than that: %s', async (_kind, write) => {
    const limits = { writeTimeoutMs: 500, leastBytesPerSecond: 4 * bytesPerSecond };
    const server = await start((_request, response) => write(response), limits);
    expect(await readAt(call(server, get('/')), bytesPerSecond, length)).toBeLessThan(length);
  });
});
