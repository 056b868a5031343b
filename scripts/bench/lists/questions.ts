import type { Database } from '../../../src/contract/transaction.ts';
import { countEvents, type EventFilter, listEvents } from '../../../src/events/event-list-store.ts';
import type { NftFilter } from '../../../src/rwa/assets/nft-counts.ts';
import { countNfts, listNfts } from '../../../src/rwa/assets/nft-store.ts';
import { countRwas, listRwas } from '../../../src/rwa/assets/rwa-store.ts';
import type { FilledCompany } from './fill.ts';

type Page = { readonly limit: number; readonly offset: number };

/** A list with a filter, as its handler reads it: a page and the total, both at once. */
export type ListQuestion = {
  readonly name: string;
  /** False where a moment narrows the list: what that costs is told, not limited. */
  readonly isHeld: boolean;
  readonly total: (company: FilledCompany) => Promise<number>;
  readonly page: (company: FilledCompany, page: Page) => Promise<readonly unknown[]>;
};

const nftFilters: Readonly<Record<string, NftFilter>> = {
  all: {},
  minted: { claimed: true },
  notMinted: { claimed: false },
  unclaimed: { mintState: 'unclaimed' },
  queued: { mintState: 'queued' },
  updatedLately: { updatedSince: new Date('2026-04-08T00:00:00Z') },
};
const rwaFilters = {
  all: {},
  type: { type: 'cask' },
  buyable: { isBuyable: true },
  three: { type: 'plot', isBuyable: false, isClaimable: true },
};
const eventFilters: Readonly<Record<string, EventFilter>> = {
  all: {},
  startsFrom: { startsFrom: new Date('2026-01-31T00:01:00Z') },
};

export function listQuestions(db: Database): readonly ListQuestion[] {
  const nfts = (name: string, filterOf: (company: FilledCompany) => NftFilter): ListQuestion => ({
    ...{ name, isHeld: !name.includes('updated') },
    total: (company) => countNfts(db, company.companyId, filterOf(company)),
    page: (company, page) => listNfts(db, company.companyId, filterOf(company), page),
  });
  return [
    ...Object.entries(nftFilters).flatMap(([name, filter]) => [
      nfts(`nfts.${name}`, () => filter),
      nfts(`nftsOfRwa.${name}`, ({ largeRwa }) => ({ ...filter, rwaNumber: BigInt(largeRwa) })),
    ]),
    ...Object.entries(rwaFilters).map(
      ([name, filter]): ListQuestion => ({
        ...{ name: `rwas.${name}`, isHeld: true },
        total: ({ companyId }) => countRwas(db, companyId, filter),
        page: ({ companyId }, page) => listRwas(db, companyId, filter, page),
      }),
    ),
    ...Object.entries(eventFilters).map(
      ([name, filter]): ListQuestion => ({
        ...{ name: `events.${name}`, isHeld: name === 'all' },
        total: ({ companyId }) => countEvents(db, companyId, filter),
        page: ({ companyId }, page) => listEvents(db, companyId, filter, page),
      }),
    ),
  ];
}
