import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Response } from 'express';
import type { Logger } from '../../log.ts';

/** What is known of a request beside its input, for its log line and its problem. */
export type RequestFacts = {
  readonly requestId: string;
  area?: string;
  operationId?: string;
  keyId?: string;
  code?: string;
};

/** Told of each request once its answer is out; `status` is undefined when its caller had gone before. */
export type OnAnswered = (facts: Readonly<RequestFacts>, status: number | undefined, seconds: number) => void;

const ownId = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Names every request, sets the headers that every response has, and writes one log line when the
 * response is out or its connection is gone. The line has no path: a path may name what is not ours to log.
 */
export function createRequestContext({
  log,
  onAnswered = () => {},
}: {
  log: Logger;
  onAnswered?: OnAnswered | undefined;
}): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    const facts: RequestFacts = { requestId: chooseId(request) };
    response.locals['facts'] = facts;
    response.setHeader('X-Request-Id', facts.requestId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.once('close', () => {
      const ms = performance.now() - started;
      // Before anything is sent, it is only what Node begins with.
      const status = response.headersSent ? response.statusCode : undefined;
      onAnswered(facts, status, ms / 1_000);
      const line = {
        ...facts,
        method: request.method,
        status,
        ms: Math.round(ms * 100) / 100,
        ...(response.writableFinished ? {} : { aborted: true }),
      };
      // Health checks and pages of the portal are no operations; they come by the thousand.
      if (facts.operationId === undefined && response.statusCode < 400) log.debug(line, 'request');
      else log.info(line, 'request');
    });
    next();
  };
}

export function factsOf(response: Response): RequestFacts {
  return response.locals['facts'] as RequestFacts; // set for every response by the middleware above
}

function chooseId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ownId.test(given) ? given : randomUUID();
}
