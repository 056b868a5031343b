import type { RequestHandler } from 'express';
import { answerAfter, type CallerDelays, createCallerDelays } from './caller-delays.ts';
import { networkOf } from './network-of.ts';

// A page of the portal takes a dozen requests, and an office may share an address.
const perSecond = 200;

/** Delays of a network by what needs no key: pages, and refusals of whoever shows none that is known. */
export const createStrangerDelays = (): CallerDelays => createCallerDelays(perSecond);

/** Lets what needs no key pass at a pace of each network: a flood of it takes nothing from those who have one. */
export const strangerPace =
  (delays: CallerDelays): RequestHandler =>
  (request, response, next) =>
    answerAfter(delays.next(networkOf(request.ip ?? '')), response, next);
