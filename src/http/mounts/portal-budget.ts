import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { problem } from '../../errors.ts';
import { networkOf } from '../server/network-of.ts';

/** Counts what an address is sent of the portal. */
export type PortalBudget = {
  /** @throws ProblemError rate_limited when the address has had enough for now */
  spend(address: string | undefined, bytes: number): Promise<void>;
};

// The kernel keeps some MB for each caller that does not read, which no limit of the process sees. Compressed, the portal is
// opened some 200 times for it.
const megabytes = 32;
const seconds = 10;

/** Creates the budget: 32 MB in 10 s for an address. */
export function createPortalBudget(): PortalBudget {
  const limiter = new RateLimiterMemory({ points: megabytes * 1_024, duration: seconds });
  return {
    async spend(address = '', bytes) {
      try {
        await limiter.consume(networkOf(address), Math.ceil(bytes / 1_024));
      } catch (reason) {
        if (!(reason instanceof RateLimiterRes)) throw reason;
        const wait = String(Math.max(1, Math.ceil(reason.msBeforeNext / 1_000)));
        // Closed, so that what it has sent ahead is over, too, and what it does not read is nothing that the process holds.
        throw problem('rate_limited', {}, { headers: { 'Retry-After': wait, Connection: 'close' } });
      }
    },
  };
}
