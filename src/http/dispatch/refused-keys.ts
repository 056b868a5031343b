import { isIPv6 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Counts the keys that were refused, by the address that sent them, in this process. */
export type RefusedKeys = {
  /** Seconds until unknown keys of the address are looked up again, at least 1; undefined while they are. */
  blockedSeconds(address: string): number | undefined;
  /** Counts a refused key. */
  count(address: string): Promise<void>;
};

const windowSeconds = 60;

/** @param perMinute refused keys of one address, after which no more are looked up until the minute ends; 0 for no limit */
export function createRefusedKeys(perMinute: number, now: () => number = Date.now): RefusedKeys {
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
