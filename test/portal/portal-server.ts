import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler } from 'express';
import { ProblemError } from '../../src/base/errors.ts';
import type { Deployment } from '../../src/http/mounts/deployment.ts';
import { createPortalRouter } from '../../src/http/mounts/portal.ts';
import type { StrangerPace } from '../../src/http/server/stranger-pace.ts';

/** The deployment that the tests serve. */
export const deployment = {
  baseUrl: 'https://api.test.example',
  operator: 'Test Operator',
  supportUrl: 'mailto:help@test.example',
};

/** Lets everything pass at once. */
export const unpaced: StrangerPace = { pass: () => undefined };

/** Serves a portal at `/docs` of a free port; problems are written as the bare code and its headers. */
export async function startPortal(directory: string, at: Deployment = deployment, pace = unpaced) {
  const app = express();
  app.use('/docs', createPortalRouter({ directory, deployment: at, pace }));
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    if (!(error instanceof ProblemError)) throw error;
    response.status(error.status).set(error.headers).send(error.code);
  };
  app.use(onError);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  const base = `http://127.0.0.1:${port}`;
  return {
    base,
    /** Fetches a path of the host; redirects are not followed. */
    get: (path: string, init: RequestInit = {}) => fetch(`${base}${path}`, { redirect: 'manual', ...init }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
