import type { Database } from '../../../src/contract/transaction.ts';
import { countEvents, listEvents } from '../../../src/events/event-list-store.ts';
import type { EventFilter } from '../../../src/events/event-place.ts';
import type { NftFilter } from '../../../src/rwa/assets/nft-counts.ts';
import { countNfts, listNfts } from '../../../src/rwa/assets/nft-store.ts';
import type { RwaFilter } from '../../../src/rwa/assets/rwa-ranges-store.ts';
import { countRwas, listRwas } from '../../../src/rwa/assets/rwa-store.ts';
import type { FilledCompany } from './fill.ts';

type Page = { readonly limit: number; readonly offset: number };

/** A page from the beginning with the total, and one far down. */
type Held = { readonly first: boolean; readonly deep: boolean };

// What a moment narrows is counted where a stretch matches as a whole, and read where a part of it does: what changed lately is
// scattered over the stretches of an RWA.
const all: Held = { first: true, deep: true };
const firstOnly: Held = { first: true, deep: false };
const none: Held = { first: false, deep: false };

/** A list with a filter, as its handler reads it: a page and the total, both at once. */
export type ListQuestion = {
  readonly name: string;
  /** What is limited; the rest is told. */
  readonly held: Held;
  /** How far down the deep page is, of the total; nine tenths by default. */
  readonly share?: number;
  readonly total: (company: FilledCompany) => Promise<number>;
  readonly page: (company: FilledCompany, page: Page) => Promise<readonly unknown[]>;
};

const nftFilters: Readonly<Record<string, NftFilter>> = {
  all: {},
  minted: { claimed: true },
  notMinted: { claimed: false },
  unclaimed: { mintState: 'unclaimed' },
  queued: { mintState: 'queued' },
  submitted: { mintState: 'submitted' },
  failed: { mintState: 'failed' },
};
const rwaFilters: Readonly<Record<string, RwaFilter>> = {
  all: {},
  type: { type: 'cask' },
  buyable: { isBuyable: true },
  three: { type: 'plot', isBuyable: false, isClaimable: true },
  rare: { type: 'rare' },
  rareThree: { type: 'rare', isBuyable: true, isClaimable: false },
  withArchived: { includeArchived: true },
};
const eventFilters: Readonly<Record<string, EventFilter>> = {
  all: {},
  startsFrom: { startsFrom: new Date('2026-01-31T00:01:00Z') },
  startsTo: { startsTo: new Date('2026-02-01T00:00:00Z') },
  startsBetween: { startsFrom: new Date('2026-01-31T00:01:00Z'), startsTo: new Date('2026-02-01T00:00:00Z') },
};

// As `fill.ts` has it: an NFT changed 100 s after the one before it, over and over in a hundred days.
const lately = (nftsOfOne: number) => ({
  updatedSince: new Date(Date.UTC(2026, 0, 1) + Math.min(nftsOfOne, 86_400) * 100_000 * 0.97),
});

const ever: NftFilter = { updatedSince: new Date(Date.UTC(2026, 0, 1)) };

/** @param nftsOf how many NFTs the largest RWA of a company has: what changed last in it is a full page of either */
export function listQuestions(
  db: Database,
  nftsOf: (company: FilledCompany) => number,
): readonly ListQuestion[] {
  const nfts = (name: string, held: Held, filterOf: (company: FilledCompany) => NftFilter): ListQuestion => ({
    ...{ name, held },
    total: (company) => countNfts(db, company.companyId, filterOf(company)),
    page: (company, page) => listNfts(db, company.companyId, filterOf(company), page),
  });
  const ofLargest = ({ largeRwa }: FilledCompany) => ({ rwaNumber: BigInt(largeRwa) });
  return [
    ...Object.entries(nftFilters).flatMap(([name, filter]) => [
      nfts(`nfts.${name}`, all, () => filter),
      nfts(`nftsOfRwa.${name}`, all, (company) => ({ ...filter, ...ofLargest(company) })),
    ]),
    // Nothing is asked of the database, so there is nothing to compare.
    nfts('nfts.impossible', none, () => ({ claimed: false, mintState: 'minted' })),
    nfts('nfts.updatedEver', all, () => ever),
    nfts('nftsOfRwa.updatedEver', all, (company) => ({ ...ever, ...ofLargest(company) })),
    nfts('nfts.updatedEverMinted', all, () => ({ ...ever, claimed: true })),
    nfts('nfts.updatedLately', firstOnly, (company) => lately(nftsOf(company))),
    nfts('nftsOfRwa.updatedLately', firstOnly, (company) => ({
      ...lately(nftsOf(company)),
      ...ofLargest(company),
    })),
    ...Object.entries(rwaFilters).map(([name, filter]) => rwaQuestion(db, name, filter)),
    ...Object.entries(eventFilters).map(([name, filter]) => eventQuestion(db, name, filter)),
    // Among those of one moment.
    { ...eventQuestion(db, 'allAtOnce', {}), share: 0.05 },
    { ...eventQuestion(db, 'startsFromAtOnce', eventFilters['startsFrom'] ?? {}), share: 0.05 },
  ];
}

const rwaQuestion = (db: Database, name: string, filter: RwaFilter): ListQuestion => ({
  ...{ name: `rwas.${name}`, held: all },
  total: ({ companyId }) => countRwas(db, companyId, filter),
  page: ({ companyId }, page) => listRwas(db, companyId, filter, page),
});

const eventQuestion = (db: Database, name: string, filter: EventFilter): ListQuestion => ({
  ...{ name: `events.${name}`, held: all },
  total: ({ companyId }) => countEvents(db, companyId, filter),
  page: ({ companyId }, page) => listEvents(db, companyId, filter, page),
});

/** While much is not folded, which is to be added up: what is asked of a list with few rows then is no comparison. */
export const pendingQuestions = (db: Database): readonly ListQuestion[] => [
  { ...rwaQuestion(db, 'allPending', {}), held: none },
  { ...eventQuestion(db, 'allPending', {}), held: none },
];
