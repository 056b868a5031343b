import { lookup as lookUpBySystem } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Callback = Parameters<LookupFunction>[2];

/**
 * Resolves names of operators by the system's function, one question for a name at a time: it uses one of four threads for
 * as long as name servers are silent, which are ten seconds and more, and those threads also unpack answers and resolve
 * all other names. Whoever asks meanwhile gets the same answer; who does not want to wait leaves by a signal.
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
