import type { ServerResponse } from 'node:http';
import type { EndRequest } from './under-way.ts';

/** Takes a request on, or refuses it for the load. @returns whether it is to be answered */
export type Admission = (response: ServerResponse) => boolean;

const endRequest = Symbol('end of the request');
const admission = Symbol('how it is taken on again');
type Answer = ServerResponse & { [endRequest]?: EndRequest | undefined; [admission]?: Admission | undefined };

/**
 * Remembers with an answer what ends the count of its request among those under way.
 * @param admit takes the request on again after `letGo`
 */
export function takeOn(response: Answer, end: EndRequest | undefined, admit?: Admission): void {
  response[endRequest] = end;
  response[admission] = admit;
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

/** Takes a request on again that was let go of. @returns whether it is to be answered; otherwise it is refused */
export const takeOnAgain = (response: Answer): boolean => response[admission]?.(response) ?? true;
