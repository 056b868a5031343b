import type { ServerResponse } from 'node:http';
import type { EndRequest } from './under-way.ts';

const endRequest = Symbol('end of the request');
type Answer = ServerResponse & { [endRequest]?: EndRequest | undefined };

/** Remembers with an answer what ends the count of its request among those under way. */
export function takeOn(response: Answer, end: EndRequest | undefined): void {
  response[endRequest] = end;
}

/**
 * Ends that count: the process has no more work with the request, or its answer has gone. Only the first time counts.
 * @param isRefused whether it was refused for the load after all
 */
export function letGo(response: Answer, isRefused: boolean): void {
  const end = response[endRequest];
  if (end === undefined) return;
  response[endRequest] = undefined;
  end(isRefused);
}
