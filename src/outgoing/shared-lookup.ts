import { lookup as lookUpBySystem } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Callback = Parameters<LookupFunction>[2];

/**
 * Resolves names of operators by the system's function, one question for a name at a time: a silent name server
 * occupies one of four threads for ten seconds and more, and these threads also unpack answers and resolve all other
 * names. A caller who asks meanwhile gets the same answer, or leaves by its signal.
 */
export function createSharedLookup(lookUp: LookupFunction = lookUpBySystem): LookupFunction {
  const flights = new Map<string, Callback[]>();
  return (hostname, options, callback) => {
    const question = JSON.stringify([hostname, options.family, options.hints, options.all, options.order]);
    const underWay = flights.get(question);
    if (underWay !== undefined) {
      underWay.push(callback);
      return;
    }
    const callbacks = [callback];
    flights.set(question, callbacks);
    lookUp(hostname, options, (...answer) => {
      flights.delete(question);
      for (const tell of callbacks) tell(...answer);
    });
  };
}

/** For all connections of the process. */
export const lookupShared = createSharedLookup();
