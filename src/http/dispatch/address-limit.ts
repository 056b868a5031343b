import { isIPv6 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Counts what comes from an address within a minute, in this process. */
export type AddressLimit = {
  /** Seconds until more of the address is let in, at least 1; undefined while it is. */
  blockedSeconds(address: string): number | undefined;
  /** Counts one. */
  count(address: string): Promise<void>;
};

const windowSeconds = 60;

/** @param perMinute how many of one address are let in until the minute ends; 0 for no limit */
export function createAddressLimit(perMinute: number, now: () => number = Date.now): AddressLimit {
  if (perMinute === 0) return { blockedSeconds: () => undefined, count: async () => {} };
  const limiter = new RateLimiterMemory({ points: perMinute, duration: windowSeconds });
  const blockedUntil = new Map<string, number>();

  const block = (network: string, ms: number) => {
    blockedUntil.set(network, now() + ms);
    setTimeout(() => blockedUntil.delete(network), ms).unref();
  };

  return {
    blockedSeconds(address) {
      // Most processes never block anybody, and the address need not be read then.
      if (blockedUntil.size === 0) return undefined;
      const until = blockedUntil.get(networkOf(address));
      if (until === undefined || until <= now()) return undefined;
      return Math.max(1, Math.ceil((until - now()) / 1_000));
    },
    async count(address) {
      const network = networkOf(address);
      try {
        const { remainingPoints, msBeforeNext } = await limiter.consume(network);
        if (remainingPoints === 0) block(network, msBeforeNext);
      } catch (reason) {
        if (!(reason instanceof RateLimiterRes)) throw reason;
        block(network, reason.msBeforeNext);
      }
    },
  };
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: whoever has one of these has all of them. */
function networkOf(address: string): string {
  return isIPv6(address) && !address.includes('.') ? expand(address).slice(0, 4).join(':') : address;
}

function expand(address: string): string[] {
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? [];
  const [before, after] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = 8 - (before?.length ?? 0) - (after?.length ?? 0);
  return [...(before ?? []), ...Array<string>(Math.max(0, zeros)).fill('0'), ...(after ?? [])];
}
