import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { Histogram } from 'prom-client';
import { basePaths } from '../../../../src/contract/documents.ts';
import type { createBalances } from './balances.ts';
import type { Caller } from './keys.ts';
import type { Reads, Visit } from './reads.ts';
import { addComponents, schemaOf } from './schemas.ts';
import type { Writes } from './writes.ts';

type Parts = {
  readonly checkKey: (key: string) => Promise<Caller | undefined>;
  readonly balanceOf: ReturnType<typeof createBalances>;
  readonly reads: Reads;
  readonly writes: Writes;
};

type Asked = {
  readonly caller: Caller;
  readonly path: Readonly<Record<string, string>>;
  readonly query: { readonly limit: number; readonly offset: number } & Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly visit: Visit;
  readonly reply: FastifyReply;
};
type Work = (asked: Asked) => Promise<unknown>;

/** The operations that are measured, at the paths of the documents. */
export function addRoutes(server: FastifyInstance, { checkKey, balanceOf, reads, writes }: Parts): void {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time of a request.',
    labelNames: ['operation', 'status'],
  });
  addComponents(server);
  const callers = new WeakMap<FastifyRequest, Caller>();
  server.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', randomUUID());
    const key = request.headers['x-api-key'];
    const caller = typeof key === 'string' ? await checkKey(key) : undefined;
    if (caller === undefined) return reply.code(401).send({ code: 'api_key_invalid' });
    callers.set(request, caller);
  });
  server.addHook('onResponse', async (request, reply) => {
    durations.observe(
      { operation: request.routeOptions.url ?? 'none', status: reply.statusCode },
      reply.elapsedTime / 1_000,
    );
  });
  const add = (
    method: 'GET' | 'POST',
    area: keyof typeof basePaths,
    path: string,
    status: number,
    work: Work,
  ) => {
    const route: RouteOptions = {
      method,
      url: basePaths[area] + path.replace(/\{(\w+)\}/g, ':$1'),
      schema: schemaOf(area, path, method, status),
      async handler(request, reply) {
        const caller = callers.get(request);
        if (caller === undefined) throw new Error('No caller.');
        const visit = { address: request.ip, requestId: String(reply.getHeader('X-Request-Id')) };
        // The schemas have checked them.
        const { params, query, body } = request as Pick<Asked, 'query' | 'body'> & {
          readonly params: Asked['path'];
        };
        const answer = await work({ caller, path: params, query, body, visit, reply });
        reply.header('Cache-Control', 'no-store');
        return answer === undefined
          ? reply.code(404).send({ code: 'not_found' })
          : reply.code(status).send(answer);
      },
    };
    server.route(route);
  };
  const page = ({ reply }: Asked, { items, total }: { readonly items: object[]; readonly total: string }) => {
    reply.header('X-Total-Count', total);
    return items;
  };

  add('GET', 'blockchain', '/token/balance', 200, ({ query }) =>
    balanceOf(query['chainId'] ?? '', query['address'] ?? ''),
  );
  add('GET', 'events', '/event/{eventId}', 200, ({ caller, path }) =>
    reads.event(caller, path['eventId'] ?? ''),
  );
  add('GET', 'events', '/event', 200, async (asked) =>
    page(asked, await reads.events(asked.caller, pageOf(asked))),
  );
  add('GET', 'rwa', '/rwa/{id}', 200, ({ caller, path }) => reads.rwa(caller, path['id'] ?? ''));
  add('GET', 'rwa', '/rwa', 200, async (asked) => {
    const { items, total } = await reads.rwas(asked.caller, pageOf(asked));
    return { total: Number(total), ...pageOf(asked), cursor: null, rwas: items };
  });
  add('GET', 'rwa', '/nft/{id}', 200, ({ caller, path, visit }) =>
    reads.nft(caller, path['id'] ?? '', visit),
  );
  add('GET', 'rwa', '/nft', 200, async (asked) =>
    page(asked, await reads.nfts(asked.caller, pageOf(asked), asked.visit)),
  );
  add('POST', 'events', '/event', 201, ({ caller, body, visit }) => writes.createEvent(caller, body, visit));
  add('POST', 'events', '/event/{eventId}/attendees', 201, ({ caller, path, body, visit }) =>
    writes.addAttendee(caller, path['eventId'] ?? '', String(body['attendeeId']), visit),
  );
  add('POST', 'rwa', '/rwa/{id}/nfts', 200, ({ caller, path, body, visit }) =>
    writes.issueNfts(caller, path['id'] ?? '', Number(body['count']), visit),
  );
}

const pageOf = ({ query: { limit, offset } }: Asked) => ({ limit, offset: offset ?? 0 });
