import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, type IncomingHttpHeaders, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import { createLogger } from '../../src/base/log.ts';
import { createMountedApp } from '../../src/compose/app.ts';
import { createPortalRouter } from '../../src/http/mounts/portal.ts';
import { callerAddress } from '../../src/http/server/caller-address.ts';
import { type HttpServer, listen } from '../../src/http/server/listener.ts';
import { createStrangerPace } from '../../src/http/server/stranger-pace.ts';
import { freePort } from '../../test/support/postgres.ts';
import { runProgram } from '../run-program.ts';
import type { Report } from './report.ts';

const site = path.join(import.meta.dirname, '../../deploy/nginx/tallystick.conf');
const largeBytes = 40_000_000;
/** Longer than the times of the configuration. */
const slowMs = 22_000;
const connectionsOfAddress = 200;

/** Starts the service's own listener behind nginx, and checks what the configuration promises. */
export async function rehearseNginx(report: Report): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-nginx-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const seen = { urls: [] as string[], isLargeSent: false };
  const hold = Promise.withResolvers<void>();
  const service = opened.adopt(await startListener(folder, seen, hold.promise), (server) => server.stop(0));
  const port = await freePort();
  await writeConfiguration(folder, { port, servicePort: service.port });
  const isValid = await report('nginx/tallystick.conf: nginx reads it', async () => {
    await runProgram('nginx', ['-t', '-p', folder, '-c', 'nginx.conf']);
  });
  if (!isValid) return;
  await report(
    'nginx/tallystick.conf: nginx reads it with TLS, as docs/operate/deploy.md switches it on',
    () => readWithTls(folder),
  );
  await startNginx(folder, port, opened);

  await report(
    'nginx: the service sees the address of the caller, and not the one that it claims',
    async () => {
      const { text } = await ask(port, '/address', { 'x-forwarded-for': '203.0.113.9' }, '127.0.0.9');
      assertEqual(text, '127.0.0.9');
    },
  );
  await report('nginx: paths arrive as they were sent', async () => {
    await ask(port, '/a//b/%2e%2E/C?d=%20');
    assertEqual(seen.urls.at(-1), '/a//b/%2e%2E/C?d=%20');
  });
  await report('nginx: ETags stay strong, and answer 304', async () => {
    const asked = { 'accept-encoding': 'gzip' };
    const direct = await ask(service.port, '/docs/page', asked);
    const through = await ask(port, '/docs/page', asked);
    assertEqual(through.headers.etag, '"1-gzip"');
    assertEqual(through.headers.etag, direct.headers.etag);
    assertEqual((await ask(port, '/docs/page', { ...asked, 'if-none-match': '"1-gzip"' })).status, 304);
  });
  await report('nginx: what it refuses has the form of the documents', async () => {
    assertProblem(await ask(port, '/address', { 'content-length': '2000000' }), 413, 'body_too_large');
  });
  await report('nginx: an address has so many connections, and others have theirs', async () => {
    const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY, localAddress: '127.0.0.10' });
    const count = connectionsOfAddress + 20;
    const asked = Array.from({ length: count }, () => ask(port, '/held', {}, '127.0.0.10', agent));
    const refused = await Promise.race(asked);
    assertProblem(refused, 429, 'rate_limited');
    assertEqual((await ask(port, '/address', {}, '127.0.0.11')).status, 200);
    hold.resolve();
    const { length } = (await Promise.all(asked)).filter(({ status }) => status === 429);
    assertEqual(length, count - connectionsOfAddress);
    agent.destroy();
  });
  await report('nginx: slow senders do not reach the service, and slow readers leave it at once', () =>
    meetSlowClients(port, seen),
  );
  await report('nginx: without the service, 503 with Retry-After', async () => {
    await service.stop(0);
    assertProblem(await ask(port, '/address'), 503, 'service_unavailable');
  });
}

type Seen = { readonly urls: string[]; isLargeSent: boolean };

/** Starts what the service answers by, over handlers that show what they get. */
async function startListener(folder: string, seen: Seen, held: Promise<void>): Promise<HttpServer> {
  const log = createLogger({ level: 'silent' });
  const directory = path.join(folder, 'portal');
  await mkdir(directory);
  const page = `<!doctype html><p>${'x'.repeat(10_000)}`;
  await writeFile(path.join(directory, 'page.html'), page);
  await writeFile(path.join(directory, 'page.html.gz'), gzipSync(page));
  const files = { 'page.html': { type: 'text/html', digest: '1' } };
  await writeFile(path.join(directory, 'manifest.json'), JSON.stringify({ files }));
  const deployment = { baseUrl: 'http://localhost', operator: 'Rehearsal', supportUrl: 'http://localhost' };
  const note: RequestHandler = (request, _response, next) => {
    seen.urls.push(request.originalUrl);
    next();
  };
  const sendLarge: RequestHandler = (_request, response) => {
    response.once('finish', () => {
      seen.isLargeSent = true;
    });
    response.end(Buffer.alloc(largeBytes));
  };
  const app = createMountedApp({
    log,
    trustedProxies: ['127.0.0.1'],
    mounts: [
      { path: '/', handler: note },
      { path: '/address', handler: (request, response) => void response.send(callerAddress(request)) },
      { path: '/held', handler: (_request, response) => void held.then(() => response.sendStatus(200)) },
      { path: '/large', handler: sendLarge },
      { path: '/docs', handler: createPortalRouter({ directory, deployment, pace: createStrangerPace() }) },
    ],
  });
  return listen(app, { host: '127.0.0.1', port: 0, settings: { host: 'HOST', port: 'PORT' }, log });
}

async function readWithTls(folder: string): Promise<void> {
  const page = await readFile(path.join(import.meta.dirname, '../../docs/operate/deploy.md'), 'utf8');
  const [, edit = ''] = /sed -i '([^']+)' \/etc\/nginx/.exec(page) ?? [];
  const [key, certificate] = [path.join(folder, 'tallystick.key'), path.join(folder, 'tallystick.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=rehearsal'];
  await runProgram('openssl', [...made, '-keyout', key, '-out', certificate]);
  const text = await runProgram('sed', [edit, site]);
  if (/^ *listen 8080;|#tls/m.test(text)) throw new Error(`sed '${edit}' does not switch TLS on`);
  const own = text
    .replaceAll('/etc/nginx', folder)
    .replace('listen 443', `listen 127.0.0.1:${await freePort()}`);
  await writeFile(path.join(folder, 'tls.conf'), own);
  const main = (await readFile(path.join(folder, 'nginx.conf'), 'utf8')).replace('site.conf', 'tls.conf');
  await writeFile(path.join(folder, 'nginx-tls.conf'), main);
  await runProgram('nginx', ['-t', '-p', folder, '-c', 'nginx-tls.conf']);
}

type Ports = { readonly port: number; readonly servicePort: number };

async function writeConfiguration(folder: string, { port, servicePort }: Ports): Promise<void> {
  // As root, workers run as another user.
  await chmod(folder, 0o755);
  const text = (await readFile(site, 'utf8'))
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('127.0.0.1:3000', `127.0.0.1:${servicePort}`);
  await writeFile(path.join(folder, 'site.conf'), text);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const http = [
    ...temporary.map((name) => `${name}_temp_path ${name};`),
    'access_log off;',
    'include site.conf;',
  ];
  await writeFile(
    path.join(folder, 'nginx.conf'),
    `pid nginx.pid;\nerror_log error.log;\nevents { worker_connections 2048; }\nhttp {\n${http.join('\n')}\n}\n`,
  );
}

async function startNginx(folder: string, port: number, opened: AsyncDisposableStack): Promise<void> {
  const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-g', 'daemon off;'], { stdio: 'inherit' });
  const ended = once(nginx, 'exit');
  opened.defer(async () => {
    nginx.kill('SIGTERM');
    await ended;
  });
  const deadline = performance.now() + 30_000;
  for (;;) {
    const answer = await ask(port, '/address').catch(() => undefined);
    if (answer?.status === 200) return;
    if (performance.now() > deadline) throw new Error(await readFile(path.join(folder, 'error.log'), 'utf8'));
    await pause(100);
  }
}

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

async function ask(
  port: number,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  localAddress = '127.0.0.1',
  agent?: Agent,
): Promise<Answer> {
  const connection = agent === undefined ? { agent: false, localAddress } : { agent };
  const request = send({ host: '127.0.0.1', port, path: target, headers, ...connection });
  if (headers['content-length'] === undefined) request.end();
  else request.flushHeaders();
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = await response.toArray();
  request.on('error', () => {}).destroy();
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

/** nginx resets connections that have run out of time. */
const closed = (socket: Socket) => new Promise<true>((resolve) => socket.once('close', () => resolve(true)));

/** Opens connections of clients who send or read nothing for longer than they may. */
async function meetSlowClients(port: number, seen: Seen): Promise<void> {
  const open = (text: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(text);
    return socket;
  };
  const before = seen.urls.length;
  const head = 'POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n';
  const senders = [head, `${head}\r\n{`].map((text) => closed(open(text).resume()));
  const reader = open('GET /large HTTP/1.1\r\nhost: x\r\n\r\n').pause();
  await pause(slowMs);
  const ended = await Promise.race([Promise.all(senders), pause(1_000)]);
  if (ended === undefined) throw new Error('slow senders are still connected');
  assertEqual(seen.urls.slice(before).join(), '/large');
  if (!seen.isLargeSent) throw new Error('the service still waits for a slow reader');
  let bytes = 0;
  reader.on('data', ({ length }) => {
    bytes += length;
  });
  reader.resume();
  await closed(reader);
  if (bytes >= largeBytes) throw new Error('a slow reader got everything');
}

function assertEqual(found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

function assertProblem({ status, headers, text }: Answer, wanted: number, code: string): void {
  assertEqual(status, wanted);
  assertEqual(headers['content-type'], 'application/problem+json');
  const { code: found, status: told, requestId } = JSON.parse(text);
  assertEqual(found, code);
  assertEqual(told, wanted);
  assertEqual(requestId, headers['x-request-id']);
  if (status !== 413 && !headers['retry-after']) throw new Error('there is no Retry-After');
}
