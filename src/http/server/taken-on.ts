import type { ServerResponse } from 'node:http';
import type { EndRequest, RequestEnd } from './under-way.ts';

/** Answers a request that was let go of: at once where there is a place for it, else at the pace of refusals. */
export type Resumption = (response: ServerResponse, answer: () => void) => void;

const endRequest = Symbol('end of the request');
const resumption = Symbol('how it is taken on again');
type Answer = ServerResponse & {
  [endRequest]?: EndRequest | undefined;
  [resumption]?: Resumption | undefined;
};

/**
 * Remembers with an answer what ends the count of its request among those under way.
 * @param resume takes the request on again after `letGo`
 */
export function takeOn(response: Answer, end: EndRequest | undefined, resume?: Resumption): void {
  response[endRequest] = end;
  response[resumption] = resume;
}

/**
 * Ends that count: the process has no more work with the request for now, or its answer has gone. Only the first time counts.
 */
export function letGo(response: Answer, how: RequestEnd): void {
  const end = response[endRequest];
  if (end === undefined) return;
  response[endRequest] = undefined;
  end(how);
}

/** Answers a request that was let go of, when it is taken on again. */
export function resume(response: Answer, answer: () => void): void {
  const again = response[resumption];
  if (again === undefined) answer();
  else again(response, answer);
}
