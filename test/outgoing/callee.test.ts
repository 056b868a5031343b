import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { withOpenTransaction } from '../../src/base/open-transaction.ts';
import { CallerGoneError, inBackground, inScope } from '../../src/base/request-scope.ts';
import { watchBreakers } from '../../src/outgoing/breaker-levels.ts';
import type { Callee, CalleeOptions } from '../../src/outgoing/callee.ts';
import { createOutgoing, type Outgoing } from '../../src/outgoing/outgoing.ts';
import { OutgoingFault } from '../../src/outgoing/outgoing-fault.ts';
import { shut, startListening } from '../support/listen.ts';
import { waitFor } from '../support/wait-for.ts';

let answer: RequestListener;
let asked: number;
let server: Server;
let url: URL;
let now: number;
let outgoing: Outgoing;
const lines: unknown[] = [];
const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(JSON.parse(line)) } });

// Each test has a server of its own: a question that was given up may arrive after its test.
beforeEach(async () => {
  server = createServer((request, response) => {
    asked += 1;
    answer(request, response);
  });
  url = new URL(`http://127.0.0.1:${await startListening(server)}/v1/secret?key=secret`);
  asked = 0;
  now = 1_000_000;
  lines.length = 0;
  outgoing = createOutgoing({ log, now: () => now });
});
afterEach(async () => {
  outgoing.close();
  await shut(server);
});

const well: RequestListener = (_request, response) => response.end('well');
const silent: RequestListener = () => {};
const limits = { timeoutMs: 5_000 };

const open = (changes: Partial<CalleeOptions> = {}) =>
  outgoing.open({ kind: 'upstream', label: 'http://host', maxConcurrent: 4, ...changes });
const get = (callee: Callee, { at = url, maxBytes = 100, timeoutMs = limits.timeoutMs } = {}) =>
  callee.send({ method: 'GET', url: at, headers: {}, maxBytes }, { timeoutMs });
const faultOf = async (call: Promise<unknown>): Promise<OutgoingFault> => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (!(error instanceof OutgoingFault))
    throw new Error('the call did not fail as it should', { cause: error });
  return error;
};
/** Lets calls fail until the breaker is open. */
async function breakIt(callee: Callee) {
  const before = answer;
  answer = (request) => request.socket.destroy();
  await faultOf(get(callee));
  now += 2_000;
  await faultOf(get(callee));
  expect(callee.state()).toBe('open');
  answer = before;
  asked = 0;
}

describe('while a transaction is open', () => {
  test('nobody is asked, and what no transaction waits for is', async () => {
    answer = well;
    const callee = open();
    const inside = withOpenTransaction(async () => {
      await Promise.resolve();
      return get(callee);
    });
    await expect(inside).rejects.toThrow('upstream http://host is asked inside a transaction');
    expect(asked).toBe(0);
    await withOpenTransaction(() => inBackground(() => get(callee)));
    await get(callee);
    expect(asked).toBe(2);
  });
});

describe('a callee', () => {
  test('that is well answers, over one connection, compressed too', async () => {
    const ports = new Set<unknown>();
    answer = (request, response) => {
      ports.add(request.socket.remotePort);
      response.setHeader('content-encoding', 'gzip').end(gzipSync('well'));
    };
    const callee = open();
    for (let count = 0; count < 3; count += 1) {
      expect(await get(callee)).toMatchObject({ status: 200, text: 'well' });
    }
    // A connection is free again only after its answer has been read.
    expect(ports.size).toBeLessThan(3);
  });

  test('whose answer has another status is heard, but its body is not read', async () => {
    answer = (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end('x'.repeat(500));
    expect(await get(open())).toMatchObject({ status: 307, text: '', headers: { location: '/elsewhere' } });
    expect(asked).toBe(1);
  });

  const trickling: RequestListener = (_request, response) => {
    const timer = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(timer));
  };
  const cut: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-length': '50' }).write('half');
    setImmediate(() => response.destroy());
  };
  const bomb: RequestListener = (_request, response) =>
    response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(1_000_000)));
  const notGzip: RequestListener = (_request, response) =>
    response.setHeader('content-encoding', 'gzip').end('not gzip');

  test.each<[string, RequestListener, string]>([
    ['is silent', silent, 'timeout'],
    ['trickles', trickling, 'timeout'],
    ['closes', (request) => request.socket.destroy(), 'unreachable'],
    ['sends half', cut, 'unreachable'],
    ['says it compressed', notGzip, 'unreachable'],
    ['is huge', (_request, response) => response.end('x'.repeat(101)), 'oversized'],
    ['is huge inside', bomb, 'oversized'],
  ])('that %s fails in time, and says nothing of its address', async (_what, given, reason) => {
    answer = given;
    const fault = await faultOf(get(open(), { timeoutMs: reason === 'timeout' ? 100 : 5_000 }));
    expect(fault.reason).toBe(reason);
    expect(`${fault.stack}`).not.toMatch(/secret|127\.0\.0\.1/);
  });

  test('whose answer breaks on a connection that was used before is not asked again', async () => {
    answer = well;
    const callee = open();
    await get(callee);
    answer = ({ socket }) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nno length\r\n');
    expect((await faultOf(get(callee))).reason).toBe('unreachable');
    expect(asked).toBe(2);
  });

  test('that switches protocols has not answered, and holds no turn', async () => {
    const switching = createTcpServer((socket) => {
      socket
        .on('error', () => {})
        .on('data', () => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
        });
    });
    const at = new URL(`http://127.0.0.1:${await startListening(switching)}/`);
    const callee = open({ maxConcurrent: 2 });
    for (let count = 0; count < 5; count += 1) {
      const { reason, message } = await faultOf(get(callee, { at }));
      expect([reason, message]).toEqual(['unreachable', 'bad upgrade']);
      now += 60_000;
    }
    answer = well;
    expect(await get(callee)).toMatchObject({ text: 'well' });
    switching.close();
  });

  test('that is gone for good is refused at once, and named', async () => {
    const callee = open();
    const gone = new URL('http://127.0.0.1:9/');
    expect(await faultOf(get(callee, { at: gone }))).toMatchObject({ message: 'ECONNREFUSED' });
    now += 2_000;
    await faultOf(get(callee, { at: gone }));
    const shut = await faultOf(get(callee, { at: gone }));
    expect(shut).toMatchObject({ reason: 'shut', retryAfterMs: 1_000 });
    expect(shut.message).toBe(
      'not asked: the circuit breaker of upstream http://host is open, it is tried again in 1000 ms',
    );
  });

  test('with a limit of calls at once is given more in turns', async () => {
    const held: (() => void)[] = [];
    answer = (_request, response) => held.push(() => response.end('well'));
    const callee = open({ maxConcurrent: 2 });
    const calls = Promise.all(Array.from({ length: 6 }, () => get(callee)));
    for (let served = 0; served < 6; served += 2) {
      await waitFor(() => expect(held).toHaveLength(2));
      expect(asked).toBe(served + 2);
      for (const end of held.splice(0)) end();
    }
    expect(await calls).toHaveLength(6);
  });

  test('is not waited for beyond the wait for a turn, and not asked then', async () => {
    answer = silent;
    const callee = open({ maxConcurrent: 1 });
    const first = faultOf(get(callee, { timeoutMs: 400 }));
    const second = faultOf(get(callee, { timeoutMs: 50 }));
    expect(await second).toMatchObject({ reason: 'busy', message: 'no turn to ask within 50 ms' });
    await first;
    answer = well;
    await get(callee);
    expect(asked).toBe(2);
  });
});

describe('a call', () => {
  test.each(['under way', 'in the queue'])('ends with the request that it is made for: %s', async (where) => {
    answer = silent;
    const callee = open({ maxConcurrent: 1 });
    const others = where === 'in the queue' ? [faultOf(get(callee, { timeoutMs: 200 }))] : [];
    const end = new AbortController();
    const call = inScope({ signal: end.signal, isRead: true }, () => get(callee));
    await waitFor(() => expect(asked).toBe(1));
    end.abort(new CallerGoneError());
    await expect(call).rejects.toThrow(CallerGoneError);
    await Promise.all(others);
    expect(asked).toBe(1);
    await expect(inScope({ signal: end.signal, isRead: true }, () => get(callee))).rejects.toThrow(
      CallerGoneError,
    );
  });

  test('tells its request that it waits for somebody outside', async () => {
    answer = well;
    const onAway = vi.fn();
    await inScope({ signal: new AbortController().signal, isRead: true, onAway }, () => get(open()));
    expect(onAway).toHaveBeenCalled();
  });

  test('whose work does not end in time is given up, and its turn is free', async () => {
    const callee = open({ maxConcurrent: 1 });
    const never = () => callee.call(() => new Promise(() => {}), { timeoutMs: 20 });
    expect((await faultOf(never())).reason).toBe('timeout');
    answer = well;
    expect(await get(callee)).toMatchObject({ text: 'well' });
    const leaving = new AbortController();
    const left = inScope({ signal: leaving.signal, isRead: true }, () =>
      callee.call(() => new Promise(() => {}), limits),
    );
    leaving.abort(new CallerGoneError());
    await expect(left).rejects.toThrow(CallerGoneError);
    expect(await get(callee)).toMatchObject({ text: 'well' });
  });

  test('that its caller leaves says nothing against the callee', async () => {
    answer = silent;
    const callee = open();
    for (let count = 0; count < 3; count += 1) {
      const end = new AbortController();
      const call = inScope({ signal: end.signal, isRead: true }, () => get(callee));
      await waitFor(() => expect(asked).toBe(count + 1));
      now += 2_000;
      end.abort(new CallerGoneError());
      await expect(call).rejects.toThrow(CallerGoneError);
    }
    expect(callee.state()).toBe('closed');
  });

  test('to an inside address is not made where only public ones are meant', async () => {
    answer = well;
    const callee = open({ isPublicOnly: true });
    const named = new URL(url);
    named.hostname = 'localhost';
    for (const at of [url, named]) await expect(get(callee, { at })).rejects.toThrow('no public host');
    expect(asked).toBe(0);
  });
});

describe('the circuit breaker of a callee', () => {
  test('opens for answers that say it does not work, where that is what they say', async () => {
    answer = (_request, response) => response.writeHead(503).end();
    const [careful, patient] = [open(), open({ failingStatus: Number.POSITIVE_INFINITY })];
    for (const callee of [careful, patient]) {
      expect((await get(callee)).status).toBe(503);
      now += 2_000;
      expect((await get(callee)).status).toBe(503);
    }
    expect([careful.state(), patient.state()]).toEqual(['open', 'closed']);
  });

  test('tries with one call, which goes on when its caller leaves; others are refused meanwhile', async () => {
    const callee = open();
    await breakIt(callee);
    const held = Promise.withResolvers<void>();
    answer = (_request, response) => void held.promise.then(() => response.end('well'));
    now += 1_000;
    const end = new AbortController();
    const trial = inScope({ signal: end.signal, isRead: true }, () => get(callee));
    expect(await faultOf(get(callee))).toMatchObject({
      reason: 'shut',
      message: 'not asked: the circuit breaker of upstream http://host is open, it is being tried',
    });
    await waitFor(() => expect(asked).toBe(1));
    end.abort(new CallerGoneError());
    await expect(trial).rejects.toThrow(CallerGoneError);
    expect(callee.state()).toBe('half_open');
    held.resolve();
    await waitFor(() => expect(callee.state()).toBe('closed'));
    answer = well;
    expect((await get(callee)).text).toBe('well');
  });

  test('tries with a question of its own where there is one, so that nobody waits for it', async () => {
    answer = well;
    const probe: CalleeOptions['probe'] = (signal, exchange) =>
      exchange.send({ method: 'POST', url, headers: {}, maxBytes: 100 }, signal);
    const callee = open({ probe });
    await breakIt(callee);
    now += 1_000;
    expect((await faultOf(get(callee))).reason).toBe('shut');
    await waitFor(() => expect(callee.state()).toBe('closed'));
    expect(asked).toBe(1);
  });

  test('counts as idle once nobody has asked for ten minutes, and as open again when somebody does', async () => {
    const metrics = createMetrics(() => {});
    watchBreakers(metrics, outgoing);
    const callee = open();
    const shown = async () =>
      /^tallystick_circuit_breakers\{.*state="(\w+)"\} 1$/m.exec((await metrics.scrape()).text)?.[1];
    await breakIt(callee);
    now += 599_000;
    expect(await shown()).toBe('open');
    now += 1_000;
    expect(await shown()).toBe('idle');
    answer = (request) => request.socket.destroy();
    await faultOf(get(callee));
    expect(await shown()).toBe('open');
    now += 600_000;
    answer = well;
    await get(callee);
    now += 600_000;
    expect(await shown()).toBe('closed');
  });

  test('tells once that it opened and closed, and is seen in the metrics, without a secret', async () => {
    answer = well;
    const metrics = createMetrics(() => {});
    watchBreakers(metrics, outgoing);
    const callee = open();
    for (const label of ['', '']) open({ kind: 'metadata', label });
    const series = async () =>
      (await metrics.scrape()).text
        .split('\n')
        .filter((line) => line.startsWith('tallystick_circuit_breakers{'));
    await breakIt(callee);
    const of = 'callee="upstream",label="http://host"';
    expect(await series()).toEqual([
      `tallystick_circuit_breakers{${of},state="open"} 1`,
      'tallystick_circuit_breakers{callee="metadata",label="",state="closed"} 2',
    ]);
    for (const pause of [1_000, 2_000]) {
      answer = (request) => request.socket.destroy();
      now += pause;
      await faultOf(get(callee));
    }
    answer = well;
    now += 3_000;
    await get(callee);
    expect(await series()).toContain(`tallystick_circuit_breakers{${of},state="closed"} 1`);
    expect(lines).toMatchObject([
      { level: 'warn', callee: 'upstream', label: 'http://host', msg: expect.stringContaining('opened') },
      { level: 'info', callee: 'upstream', ms: 6_000, msg: expect.stringContaining('closed') },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
    callee.close();
    expect(await series()).toHaveLength(1);
  });
});
