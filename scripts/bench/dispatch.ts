import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import express, { type Express } from 'express';
import { OpenAPIBackend } from 'openapi-backend';
import { createDocumentApp } from '../../src/app.ts';
import type { OpenApiDocument } from '../../src/contract/documents.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createAddressLimit } from '../../src/http/dispatch/address-limit.ts';
import { compileMatcher } from '../../src/http/dispatch/matcher.ts';
import { createAjvProvider } from '../../src/http/input/validators.ts';
import { createAnswerMemory } from '../../src/http/server/answer-memory.ts';
import { sendReply } from '../../src/http/server/reply.ts';
import { createLogger } from '../../src/log.ts';
import { measure, rounded, type Suite } from './suite.ts';

const id = '3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11';
const body = { id, name: 'a' };

/** GETs with an id in the path and two query parameters: what most requests are. */
function documentOf(operations: number): OpenApiDocument {
  const idParameter = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
  const query = ['limit', 'offset'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'integer', minimum: 0 },
  }));
  const paths = Array.from({ length: operations }, (_, index) => [
    `/thing${index}/{id}`,
    { get: { operationId: `get${index}`, parameters: [idParameter, ...query], responses: {} } },
  ]);
  return {
    openapi: '3.1.0',
    info: { title: 'bench', version: '1' },
    security: [{ ApiKey: [] }],
    paths: Object.fromEntries(paths),
    components: { securitySchemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
  };
}

async function ours(document: OpenApiDocument): Promise<Express> {
  const caller = { keyId: 'bench', companyId: 'bench', rateLimit: null };
  const handlers = Object.fromEntries(
    operationIds(document).map((name) => [name, async () => ({ status: 200, body })]),
  );
  // A GET asks for no transaction.
  const db = {} as Database;
  return createDocumentApp(
    [{ area: 'bench', basePath: '/api', document, handlers, isCompanyRequired: true }],
    {
      verifier: { verify: async () => ({ ok: true, caller }), close: async () => {} },
      limiter: { consume: async () => ({ headers: {} }) },
      refusedKeys: createAddressLimit(0),
      publicRequests: createAddressLimit(0),
      db,
      log: createLogger({ level: 'silent' }),
    },
  );
}

const memory = createAnswerMemory(Number.POSITIVE_INFINITY);

/** openapi-backend with its own router, and nothing of ours but the validators. */
async function library(document: OpenApiDocument): Promise<Express> {
  type Definition = ConstructorParameters<typeof OpenAPIBackend>[0]['definition'];
  const api = new OpenAPIBackend({
    definition: structuredClone(document) as unknown as Definition, // the same standard, other types
    quick: true,
    customizeAjv: createAjvProvider(),
    securityHandlers: { ApiKey: async () => true },
    handlers: Object.fromEntries(
      operationIds(document).map((name) => [name, async () => ({ status: 200, body })]),
    ),
  });
  await api.init();
  const app = express();
  app.use('/api', async (request, response) => {
    const { method, path, query, headers } = request;
    // Express parses queries and headers into the forms that the library takes.
    const asked = { method, path, query, headers } as Parameters<typeof api.handleRequest>[0];
    await sendReply(response, await api.handleRequest(asked), memory);
  });
  return app;
}

function bare(document: OpenApiDocument): Express {
  const app = express();
  for (const path of Object.keys(document.paths)) {
    app.get(`/api${path.replace('{id}', ':id')}`, (_request, response) => {
      response.json(body);
    });
  }
  return app;
}

/** Sends one request through an app without a network: what is left is the app's own work. */
function requester(app: Express, url: string): () => Promise<void> {
  const socket = new Socket();
  return () =>
    new Promise((resolve, reject) => {
      const request = new IncomingMessage(socket);
      Object.assign(request, {
        method: 'GET',
        url,
        headers: { 'x-api-key': 'k', host: 'x' },
        complete: true,
      });
      const response = new ServerResponse(request);
      response.end = (): ServerResponse => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`answered ${response.statusCode}`));
        return response;
      };
      app(request as never, response as never); // Express adds its own properties to both
    });
}

function operationIds(document: OpenApiDocument): string[] {
  return Object.keys(document.paths).map((_, index) => `get${index}`);
}

/** The last operation, which a router that looks through a list finds last. */
const pathOf = (operations: number) => `/thing${operations - 1}/${id}`;

async function measureMatchers(operations: number, runs: number) {
  type Definition = ConstructorParameters<typeof OpenAPIBackend>[0]['definition'];
  const definition = documentOf(operations) as unknown as Definition; // the same standard, other types
  const api = await new OpenAPIBackend({ definition, quick: true, validate: false }).init();
  const match = compileMatcher(api.getOperations());
  const path = pathOf(operations);
  const asked = { method: 'get', path, headers: {} };
  return {
    ours: await measure(() => match('get', path), runs),
    library: await measure(() => api.matchOperation(asked), Math.ceil(runs / 20)),
  };
}

async function measureDispatch(operations: number, runs: number) {
  const document = documentOf(operations);
  const url = `/api${pathOf(operations)}?limit=5&offset=10`;
  return {
    ours: await measure(requester(await ours(document), url), runs),
    library: await measure(requester(await library(document), url.replace(/\?.*/, '')), Math.ceil(runs / 5)),
    bare: await measure(requester(bare(document), url), runs),
  };
}

export const dispatchSuite: Suite = {
  about: 'Routing, key check, validation and answer of one GET, in the process',
  async run({ isQuick, say }) {
    const runs = isQuick ? 1_000 : 10_000;
    const figures: Record<string, number> = {};
    for (const operations of [10, 80]) {
      const matcher = await measureMatchers(operations, runs);
      const dispatch = await measureDispatch(operations, runs);
      say(`${operations} operations`);
      say(`  matcher    ${rounded(matcher.ours)} µs, the library's ${rounded(matcher.library)} µs`);
      say(
        `  one GET    ${rounded(dispatch.ours)} µs, with the library's router ${rounded(dispatch.library)} µs, ` +
          `bare Express ${rounded(dispatch.bare)} µs`,
      );
      figures[`matcherUs${operations}`] = rounded(matcher.ours);
      figures[`dispatchUs${operations}`] = rounded(dispatch.ours);
      figures[`matcherToLibrary${operations}`] = rounded(matcher.ours / matcher.library);
      figures[`dispatchToLibrary${operations}`] = rounded(dispatch.ours / dispatch.library);
      figures[`dispatchToBareExpress${operations}`] = rounded(dispatch.ours / dispatch.bare);
    }
    return figures;
  },
};
