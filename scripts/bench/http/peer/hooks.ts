import type { FastifyInstance } from 'fastify';
import { Histogram } from 'prom-client';
import type { KeyCheck } from './keys.ts';

/** What every request goes through: its id, the check of its key, and the histogram of durations. */
export function addHooks(server: FastifyInstance, { known, lookUp }: KeyCheck): void {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time of a request.',
    labelNames: ['operation', 'status'],
  });
  server.decorateRequest('caller', null);
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    reply.header('Cache-Control', 'no-store');
    const key = request.headers['x-api-key'];
    const refuse = () => reply.code(401).send({ code: 'api_key_invalid' });
    if (typeof key !== 'string') return void refuse();
    request.caller = known(key) ?? null;
    // A known key waits for nothing.
    if (request.caller !== null) return done();
    lookUp(key).then((caller) => {
      if (caller === undefined) return void refuse();
      request.caller = caller;
      done();
    }, done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.url ?? 'none';
    durations.observe({ operation, status: reply.statusCode }, reply.elapsedTime / 1_000);
    done();
  });
}
