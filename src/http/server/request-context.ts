import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { Logger } from '../../base/log.ts';

/** Facts about a request apart from its input, for its log line and its problem. */
export type RequestFacts = {
  readonly requestId: string;
  /** Of its trace; undefined without traces. */
  traceId?: string;
  area?: string;
  operationId?: string;
  /** The path of the operation with the names of its parameters, such as `/v1/api/nft/{id}`. */
  path?: string;
  keyId?: string;
  companyId?: string;
  code?: string;
};

/** Called once for each request after its response; `status` is undefined when the caller disconnected before. */
export type OnAnswered = (facts: Readonly<RequestFacts>, status: number | undefined, seconds: number) => void;

export type RequestContextOptions = {
  readonly log: Logger;
  readonly onAnswered?: OnAnswered | undefined;
};

const ownId = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Creates what begins every request: it gives it an id, adds the headers of every response, and writes one log line when the
 * response is sent or the connection is closed. The line has the path's template only, because a path may contain personal
 * data.
 */
export function createRequestContext({
  log,
  onAnswered = () => {},
}: RequestContextOptions): (request: Request, response: Response) => void {
  // Its fields are known, and none is a secret. A search for secrets by name takes eight times as long as the rest of
  // the line.
  const lines = log.child({}, { redact: [] });
  return (request, response) => {
    const started = performance.now();
    const facts: RequestFacts = { requestId: chooseId(request) };
    response.locals['facts'] = facts;
    response.setHeader('X-Request-Id', facts.requestId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.once('close', () => {
      const ms = performance.now() - started;
      // Before headers are sent, statusCode is only Node's initial value.
      const status = response.headersSent ? response.statusCode : undefined;
      onAnswered(facts, status, ms / 1_000);
      // Health checks and portal pages are not operations, and there are thousands of them.
      const level = facts.operationId === undefined && response.statusCode < 400 ? 'debug' : 'info';
      if (!lines.isLevelEnabled(level)) return;
      const line = {
        ...facts,
        method: request.method,
        status,
        ms: Math.round(ms * 100) / 100,
        ...(response.writableFinished ? {} : { aborted: true }),
      };
      lines[level](line, 'request');
    });
  };
}

/** The facts of the request that a response belongs to. */
export function factsOf(response: Response): RequestFacts {
  return response.locals['facts'] as RequestFacts; // set for every response by the function above
}

function chooseId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ownId.test(given) ? given : randomUUID();
}
