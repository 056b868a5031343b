import { networkOf } from '../server/network-of.ts';

/** Counts what comes from an address within a minute, in this process. */
export type AddressLimit = {
  /**
   * Returns the seconds until the address may begin more, at least 1; undefined while it may.
   * @param name of the work to begin. Work that is under way already may go on
   */
  blockedSeconds(address: string, name?: string): number | undefined;
  /** Counts one. */
  count(address: string): void;
  /** Counts what has no outcome yet, once for each name. @returns what is called with the outcome */
  begin(address: string, name: string): (outcome: Outcome) => void;
};

/** `refused` counts for the minute, `late` for some seconds more, `done` no longer. */
type Outcome = 'refused' | 'late' | 'done';

type Window = { readonly until: number; counted: number; readonly underWay: Map<string, number> };

const windowMs = 60_000;
// A slow verifier is not the caller's fault, so its places are soon free again. But nobody may have it wait without
// end.
const lateMs = 10_000;

/** @param perMinute how many of one address are let in until the minute ends; 0 for no limit */
export function createAddressLimit(perMinute: number): AddressLimit {
  if (perMinute === 0) return { blockedSeconds: () => undefined, count: () => {}, begin: () => () => {} };
  const windows = new Map<string, Window>();

  const windowOf = (address: string): Window => {
    const network = networkOf(address);
    const known = windows.get(network);
    if (known !== undefined) return known;
    const made = { until: performance.now() + windowMs, counted: 0, underWay: new Map() };
    windows.set(network, made);
    setTimeout(() => windows.delete(network), windowMs).unref();
    return made;
  };

  return {
    blockedSeconds(address, name) {
      const window = windows.get(networkOf(address));
      if (window === undefined) return undefined;
      const { until, counted, underWay } = window;
      if (counted >= perMinute) return Math.max(1, Math.ceil((until - performance.now()) / 1_000));
      const isJoining = name !== undefined && underWay.has(name);
      return isJoining || counted + underWay.size < perMinute ? undefined : 1;
    },
    count(address) {
      windowOf(address).counted += 1;
    },
    begin(address, name) {
      const window = windowOf(address);
      const { underWay } = window;
      underWay.set(name, (underWay.get(name) ?? 0) + 1);
      const end = () => {
        const left = (underWay.get(name) ?? 1) - 1;
        if (left === 0) underWay.delete(name);
        else underWay.set(name, left);
      };
      return (outcome) => {
        if (outcome === 'late' && underWay.get(name) === 1) {
          setTimeout(end, lateMs).unref();
          return;
        }
        end();
        if (outcome === 'refused') window.counted += 1;
      };
    },
  };
}
