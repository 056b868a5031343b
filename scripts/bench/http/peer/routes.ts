import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { basePaths } from '../../../../src/contract/documents.ts';
import type { createBalances } from './balances.ts';
import type { Caller } from './hooks.ts';
import type { createReads, Found, Page } from './reads.ts';
import { addComponents, schemaOf } from './schemas.ts';
import type { createWrites } from './writes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

type Parts = {
  readonly balanceOf: ReturnType<typeof createBalances>;
  readonly reads: ReturnType<typeof createReads>;
  readonly writes: ReturnType<typeof createWrites>;
};

/** What the schemas have checked; they give defaults as well. */
type Asked = {
  Params: Readonly<Record<'id' | 'eventId', string>>;
  Querystring: Page & Readonly<Record<'chainId' | 'address', string>>;
  Body: Readonly<Record<string, unknown>>;
};
type Handler = (request: FastifyRequest<Asked>, reply: FastifyReply) => unknown;

/** The operations that are measured, at the paths of the documents. */
export function addRoutes(server: FastifyInstance, { balanceOf, reads, writes }: Parts): void {
  addComponents(server);
  const add = (
    method: 'GET' | 'POST',
    area: keyof typeof basePaths,
    path: string,
    status: number,
    handler: Handler,
  ) => {
    const url = basePaths[area] + path.replace(/\{(\w+)\}/g, ':$1');
    server.route<Asked>({ method, url, schema: schemaOf(area, path, method, status), handler });
  };

  add('GET', 'blockchain', '/token/balance', 200, ({ query: { chainId, address } }, reply) => {
    const balance = balanceOf(chainId, address);
    return balance instanceof Promise ? balance : reply.send(balance);
  });
  add('GET', 'events', '/event/{eventId}', 200, (request) =>
    reads.event(callerOf(request), request.params.eventId),
  );
  add('GET', 'events', '/event', 200, async (request, reply) =>
    page(reply, await reads.events(callerOf(request), pageOf(request))),
  );
  add('GET', 'rwa', '/rwa/{id}', 200, (request) => reads.rwa(callerOf(request), request.params.id));
  add('GET', 'rwa', '/rwa', 200, async (request) => {
    const asked = pageOf(request);
    const { items, total } = await reads.rwas(callerOf(request), asked);
    return { total: Number(total), ...asked, cursor: null, rwas: items };
  });
  add('GET', 'rwa', '/nft/{id}', 200, (request) => reads.nft(callerOf(request), request.params.id, request));
  add('GET', 'rwa', '/nft', 200, async (request, reply) =>
    page(reply, await reads.nfts(callerOf(request), pageOf(request), request)),
  );
  add('POST', 'events', '/event', 201, (request, reply) => {
    reply.code(201);
    return writes.createEvent(callerOf(request), request.body, request);
  });
  add('POST', 'events', '/event/{eventId}/attendees', 201, (request, reply) => {
    reply.code(201);
    const attendeeId = String(request.body['attendeeId']);
    return writes.addAttendee(callerOf(request), request.params.eventId, attendeeId, request);
  });
  add('POST', 'rwa', '/rwa/{id}/nfts', 200, (request) =>
    writes.issueNfts(callerOf(request), request.params.id, Number(request.body['count']), request),
  );
}

/** @throws Error on a route without a check of keys */
function callerOf({ caller }: FastifyRequest<Asked>): Caller {
  if (caller === null) throw new Error('No caller.');
  return caller;
}

const pageOf = ({ query: { limit, offset } }: FastifyRequest<Asked>): Page => ({
  limit,
  offset: offset ?? 0,
});

function page<T>(reply: FastifyReply, { items, total }: Found<T>): readonly T[] {
  reply.header('X-Total-Count', total);
  return items;
}
