import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { Express } from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { createMountedApp } from '../../src/app.ts';
import { openToPages } from '../../src/http/dispatch/open-to-pages.ts';
import type { CallerDelays } from '../../src/http/server/caller-delays.ts';
import { createStrangerDelays, strangerPace } from '../../src/http/server/stranger-pace.ts';
import { createLogger } from '../../src/log.ts';
import { fixtureApp, id } from './support.ts';

type Question = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
};

/** Callers of an app, each with a connection of its own. */
async function callersOf(app: Express) {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const begin = (question: Question) => {
    const request = send({ host: '127.0.0.1', port, agent: false, ...question });
    return request.on('error', () => {}).end();
  };
  const ask = async (question: Question): Promise<number> => {
    const [answer] = await once(begin(question), 'response');
    answer.resume();
    return answer.statusCode;
  };
  return { begin, ask };
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** A page, and an operation that pages of any origin may call. */
function pagesApp(delays: CallerDelays = createStrangerDelays()) {
  let answers = 0;
  const pace = strangerPace(delays);
  const app = createMountedApp({
    log: createLogger({ level: 'silent' }),
    mounts: [
      { path: '/open', handler: openToPages((_request, response) => response.sendStatus(200), pace) },
      { path: '/', handler: pace },
      {
        path: '/page',
        handler(_request, response) {
          answers += 1;
          response.sendStatus(200);
        },
      },
    ],
  });
  return { app, answers: () => answers };
}

const path = `/api/thing/${id}`;

test.each([
  { what: 'a question without a key', status: 401, question: { path } },
  { what: 'an invented key', status: 401, question: { path, headers: { 'x-api-key': 'invented' } } },
  { what: 'a path that is none', status: 404, question: { path: '/api/nothing' } },
  { what: 'a method that is none', status: 405, question: { path, method: 'PROPFIND' } },
])('$what is refused at a pace', async ({ status, question }) => {
  const { ask } = await callersOf(await fixtureApp());
  const began = performance.now();
  expect(new Set(await Promise.all(times(260, () => ask(question))))).toEqual(new Set([status]));
  // Sixty beyond the two hundred, at two hundred a second.
  expect(performance.now() - began).toBeGreaterThan(290);
});

test.each([
  { what: 'a page', status: 200, question: { path: '/page' } },
  { what: 'an address that is none', status: 404, question: { path: '/nothing' } },
  {
    what: 'what a page may ask',
    status: 204,
    question: {
      ...{ path: '/open', method: 'OPTIONS' },
      headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
    },
  },
])('$what is told at a pace', async ({ status, question }) => {
  const { ask } = await callersOf(pagesApp().app);
  const began = performance.now();
  expect(new Set(await Promise.all(times(260, () => ask(question))))).toEqual(new Set([status]));
  expect(performance.now() - began).toBeGreaterThan(290);
});

test('nothing is done for who has left before its turn', async () => {
  const app = pagesApp({ next: () => 50 });
  const { begin, ask } = await callersOf(app.app);
  const gone = begin({ path: '/page' });
  await once(gone, 'finish');
  gone.destroy();
  // Asked later, so that its turn comes later.
  expect(await ask({ path: '/page' })).toBe(200);
  expect(app.answers()).toBe(1);
});
