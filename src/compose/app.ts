import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import { problem } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Tracing } from '../base/span.ts';
import { areas, basePaths, documents, type OpenApiDocument } from '../contract/documents.ts';
import type { operations as BlockchainOperations } from '../contract/generated/blockchain.ts';
import type { operations as ClaimOperations } from '../contract/generated/claim.ts';
import type { operations as EventsOperations } from '../contract/generated/events.ts';
import type { operations as NewsOperations } from '../contract/generated/news.ts';
import type { operations as RwaOperations } from '../contract/generated/rwa.ts';
import type { CallerContext, CompanyContext, Handlers } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import type { AddressLimit } from '../http/dispatch/address-limit.ts';
import { answerProblem, createDispatch } from '../http/dispatch/dispatch.ts';
import { openExchange } from '../http/dispatch/exchange.ts';
import { createGate } from '../http/dispatch/gate.ts';
import type { Limiter } from '../http/dispatch/limits.ts';
import { chainPages, claimPages, openToPages } from '../http/dispatch/open-to-pages.ts';
import type { AnyHandler } from '../http/dispatch/steps.ts';
import { createBodyReader } from '../http/input/body.ts';
import { createAjvProvider } from '../http/input/validators.ts';
import type { RequestAdmission } from '../http/server/admission.ts';
import { createAnswerMemory } from '../http/server/answer-memory.ts';
import { atBasePaths } from '../http/server/base-paths.ts';
import { createProxyCheck } from '../http/server/caller-address.ts';
import { createRequestContext, type RequestContextOptions } from '../http/server/request-context.ts';
import { createPace, createStrangerPace, paced, type StrangerPace } from '../http/server/stranger-pace.ts';
import type { KeyVerifier } from '../keys/verifier.ts';

/** The handlers of each area; an area without handlers is not served. */
export type AreaHandlers = {
  readonly blockchain?: Handlers<BlockchainOperations, CallerContext>;
  readonly events?: Handlers<EventsOperations, CompanyContext, 'getTicketKeys'>;
  readonly rwa?: Handlers<RwaOperations, CompanyContext, 'getTokenMetadata'>;
  readonly claim?: Handlers<ClaimOperations, never, keyof ClaimOperations>;
  readonly news?: Handlers<NewsOperations, CompanyContext>;
};

type Mount = { readonly path: string; readonly handler: RequestHandler };

type MountedAppParts = RequestContextOptions & {
  /** The proxies that are believed about a caller's address and trace, as TRUSTED_PROXIES has them; none by default. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** What answers most requests, and passes on the others; it is asked before all mounts. */
  readonly first?: RequestHandler | undefined;
  /** What is served. A request goes to each whose path fits, in this order, until one answers. */
  readonly mounts: readonly Mount[];
};

type SharedParts = Omit<MountedAppParts, 'first' | 'mounts'> & {
  readonly verifier: KeyVerifier;
  readonly limiter: Limiter;
  readonly refusedKeys: AddressLimit;
  readonly publicRequests: AddressLimit;
  readonly admission: RequestAdmission;
  /** Of callers without a known key; one of its own by default. */
  readonly strangers?: StrangerPace;
  readonly db: Database;
  /** Bytes of answers under way at most, in this process; without a limit by default. */
  readonly maxAnswerBytes?: number | undefined;
  /** Time for an answer to be made, in milliseconds. */
  readonly deadlineMs?: number | undefined;
  /** Makes a span of each request; none by default. */
  readonly tracing?: Tracing | undefined;
  /** What is served in addition to the documents, such as the portal, at the pace of strangers. Asked after them. */
  readonly mounts?: readonly Mount[];
};

export type AppParts = SharedParts & {
  readonly handlers: AreaHandlers;
  /** Of pages that may read blockchain data with a key for browsers; none by default. */
  readonly browserOrigins?: readonly string[] | undefined;
};

/** A document and the handlers of its operations. */
export type ServedDocument = {
  /** Its name in metrics and logs. */
  readonly area: string;
  readonly basePath: string;
  readonly document: OpenApiDocument;
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  /** Whether a key without a company is rejected. */
  readonly isCompanyRequired: boolean;
  /** The pages that may call it; none by default. */
  readonly pages?: Parameters<typeof openToPages>[2] | undefined;
};

/** The Express app over the documents of the areas that have handlers; it does not listen. */
export function createApp({ handlers, browserOrigins = [], ...parts }: AppParts): Promise<Express> {
  const pages = { claim: claimPages, blockchain: chainPages(browserOrigins) };
  const served = areas.flatMap((area): ServedDocument[] => {
    const own = handlers[area];
    if (own === undefined) return [];
    // Blockchain data belong to no company, so a key without one may read them.
    const isCompanyRequired = area !== 'blockchain';
    const found = { basePath: basePaths[area], document: documents[area] };
    const opening = area === 'claim' || area === 'blockchain' ? pages[area] : undefined;
    return [{ area, ...found, handlers: own, isCompanyRequired, pages: opening }];
  });
  return createDocumentApp(served, parts);
}

/** An app over any documents. */
export async function createDocumentApp(
  served: readonly ServedDocument[],
  {
    verifier,
    limiter,
    refusedKeys,
    publicRequests,
    admission,
    strangers = createStrangerPace(),
    db,
    maxAnswerBytes,
    deadlineMs,
    tracing,
    mounts = [],
    ...context
  }: SharedParts,
): Promise<Express> {
  const { log } = context;
  const isProxy = createProxyCheck(context.trustedProxies ?? []);
  const memory = createAnswerMemory(maxAnswerBytes ?? Number.POSITIVE_INFINITY);
  const shared = {
    readBody: createBodyReader(),
    customizeAjv: createAjvProvider(),
    memory,
    admission,
    strangers,
    // A program with a key or two that obeys `Retry-After` never gets so many.
    refusals: createPace(50),
    isFromProxy: ({ socket }: Request) => isProxy(socket.remoteAddress),
    deadlineMs,
    db,
    log,
    tracing,
  };
  const pace = paced(strangers);
  const dispatchers: Mount[] = [];
  for (const { area, basePath, document, handlers, isCompanyRequired, pages } of served) {
    const gate = createGate({ verifier, limiter, refusedKeys, publicRequests, isCompanyRequired });
    const handler = await createDispatch({ area, document, handlers, gate, ...shared });
    dispatchers.push({ path: basePath, handler: pages ? openToPages(handler, pace, pages) : handler });
  }
  const pacedMounts = [{ path: '/', handler: pace }, ...mounts];
  return createMountedApp({ ...context, first: atBasePaths(dispatchers), mounts: pacedMounts });
}

/**
 * An app over request handlers; what none of them answers is the problem `not_found`. Paths are exact: no case
 * is folded, and a trailing or doubled slash makes another path.
 */
export function createMountedApp({
  first = passOn,
  mounts,
  trustedProxies = [],
  ...context
}: MountedAppParts): Express {
  const { log } = context;
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.set('trust proxy', createProxyCheck(trustedProxies));
  const begin = createRequestContext(context);
  // In one handler: Express's way from one to the next costs as much as either.
  app.use((request, response, next) => {
    begin(request, response);
    first(request, response, next);
  });
  for (const { path, handler } of mounts) app.use(path, handler);
  app.use((request, response) => answerProblem(openExchange(request, response), problem('not_found'), log));
  app.use(createErrorHandler(log));
  return app;
}

const passOn: RequestHandler = (_request, _response, next) => next();

// Express recognises an error handler by its four parameters.
function createErrorHandler(log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    answerProblem(openExchange(request, response), fromExpress(error), log);
  };
}

/** Errors of Express and of its static files carry a status, which decides on the problem. */
function fromExpress(error: unknown): unknown {
  if (!(error instanceof Error) || !('status' in error)) return error;
  if (error.status === 400) return problem('path_malformed', {}, { cause: error });
  if (error.status === 403 || error.status === 404) return problem('not_found', {}, { cause: error });
  return error;
}
