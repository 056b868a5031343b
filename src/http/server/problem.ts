import type { ServerResponse } from 'node:http';
import { ProblemError, problem } from '../../base/errors.ts';
import { codeOf, isOutage } from '../../db/connection/outage.ts';

// Retry-After in seconds, where the thrower gives none.
const defaultRetrySeconds: Readonly<Partial<Record<string, number>>> = {
  idempotency_in_progress: 1,
  rate_limited: 1,
  history_unavailable: 2,
  nfts_unavailable: 2,
  tokens_unavailable: 2,
  approvals_unavailable: 2,
  balance_unavailable: 2,
  contract_unverified: 2,
  auth_unavailable: 5,
  service_unavailable: 5,
  eligibility_unavailable: 5,
  overloaded: 1,
};

// Deadlocks and serialization failures.
const conflicts = new Set(['40001', '40P01']);

/** Converts any error to the problem that the caller sees. Internals of unexpected errors stay in its cause. */
export function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (isOutage(error) || isConflict(error)) return problem('service_unavailable', {}, { cause: error });
  return problem('internal_error', {}, { cause: error });
}

const isConflict = (error: unknown) => error instanceof Error && conflicts.has(codeOf(error));

/** Sends a problem (RFC 9457). If a response has already begun, closes the connection instead. */
export function sendProblem(response: ServerResponse, found: ProblemError, requestId: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const retry = defaultRetrySeconds[found.code];
  const body = problemBody(found, requestId);
  response.writeHead(found.status, {
    ...(retry !== undefined && { 'Retry-After': String(retry) }),
    ...found.headers,
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Serializes a problem as JSON. */
export function problemBody(found: ProblemError, requestId: string): string {
  const members = {
    type: `/docs/problems/${found.code}`,
    title: found.title,
    status: found.status,
    detail: found.message,
    code: found.code,
    requestId,
    ...(found.errors.length > 0
      ? { errors: found.errors.map((error) => ({ location: error.in, ...error })) }
      : {}),
  };
  // A name that the caller sent may contain a lone surrogate, which strict JSON parsers reject.
  return JSON.stringify(members, (_name, value) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );
}
