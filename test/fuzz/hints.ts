import fc, { type Arbitrary } from 'fast-check';
import { checksumAddress } from '../../src/chain/address.ts';
import type { Hints } from './valid-values.ts';

export type Surroundings = {
  /** Registered networks. */
  readonly chainIds: readonly string[];
  /** Wallets with a history on them. */
  readonly wallets: readonly string[];
  /** An ERC-20 contract. */
  readonly token: string | undefined;
};

const addresses: Arbitrary<string> = fc
  .stringMatching(/^0x[0-9a-f]{40}$/)
  .chain((lower) => fc.constantFrom(lower, checksumAddress(lower) ?? lower));

const dates = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .chain((date) => {
    const text = date.toISOString();
    return fc.constantFrom(text, text.slice(0, 10), text.replace('Z', '+05:30'), text.replace(/\.\d+/, ''));
  });

const urls = fc.webUrl({ validSchemes: ['http', 'https'] });

/** What is right by rules that stand in words only: checksums, days, networks, and what is there. */
export function hintsFor({ chainIds, wallets, token }: Surroundings): { body: Hints; query: Hints } {
  const wallet = fc.oneof(fc.constantFrom(...wallets), addresses);
  return {
    body: {
      startDate: dates,
      endDate: dates,
      chainId: fc.constantFrom(...chainIds.map(Number), null),
      coverImage: urls,
      imageUrl: urls,
      claimBaseUrl: urls,
      currency: fc.constantFrom('EUR', 'USD', 'GBP', 'USDC', 'W.ETH', null),
      recipient: addresses,
      count: fc.integer({ min: 1, max: 3 }),
    },
    query: {
      address: wallet,
      contractAddress: token === undefined ? addresses : fc.oneof(fc.constant(token), addresses),
      chainId: fc.constantFrom(...chainIds),
      startsFrom: dates,
      startsTo: dates,
      updatedSince: dates,
      fromDate: dates,
      toDate: dates,
      fromBlock: fc.nat(100).map(String),
      toBlock: fc.nat(100).map(String),
      counterparty: wallet,
      token: fc.array(token === undefined ? addresses : fc.oneof(fc.constant(token), addresses), {
        maxLength: 10,
      }),
      contract: fc.array(addresses, { maxLength: 10 }),
      // A cursor of nothing is refused; walks over pages are a property of their own.
      cursor: fc.constant(''),
      offset: fc.integer({ min: 0, max: 50 }),
    },
  };
}
