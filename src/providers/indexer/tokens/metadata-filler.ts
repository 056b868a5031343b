import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import { ForbiddenHostError } from '../../../outgoing/public-address.ts';
import {
  type DueMetadata,
  type FetchedMetadata,
  listDueMetadata,
  saveMetadata,
} from '../store/tokens/metadata-store.ts';
import { isFetched, type MetadataFetcher } from './metadata-fetcher.ts';

type FillerOptions = {
  readonly chainId: string;
  readonly db: Database;
  readonly fetcher: MetadataFetcher;
  readonly log: Logger;
};

const atOnce = 8;
// A contract with silent hosts has two places, and more only while two are left for others.
const places = 2;
// How soon new work is noticed while slow hosts are waited for.
const lookMs = 1_000;

/**
 * Creates a function that fetches the metadata of tokens that are due, a few at once, until none is due or the signal
 * aborts. It returns whether there may be more. A free place is used at once, so nobody waits for the slowest. A
 * failed fetch is due again later, unless it can never succeed.
 */
export function createMetadataFiller(options: FillerOptions) {
  return async (signal?: AbortSignal): Promise<boolean> => {
    const fetches = createFetches(options);
    for (;;) {
      await fetches.save();
      if (signal?.aborted !== true) await fetches.start();
      if (fetches.count() === 0) return false;
      await fetches.next();
    }
  };
}

type Fetch = { readonly contract: string; readonly done: Promise<void> };

/** The tokens that are being fetched. */
function createFetches({ chainId, db, fetcher, log }: FillerOptions) {
  const underWay = new Map<string, Fetch>();
  const finished = new Map<string, FetchedMetadata>();
  const nameOf = ({ contract, tokenId }: Pick<DueMetadata, 'contract' | 'tokenId'>) =>
    `${contract} ${tokenId}`;
  const ofContract = (contract: string) =>
    [...underWay.values()].filter((each) => each.contract === contract).length;

  const fetchOne = async ({ contract, tokenId, tokenUri }: DueMetadata): Promise<void> => {
    const key = { contract, tokenId, spread: 0.75 + Math.random() / 2 };
    try {
      const metadata = await fetcher.fetch(tokenUri);
      finished.set(nameOf(key), { ...key, metadata, again: false });
    } catch (err) {
      log.debug({ err, chainId, contract, tokenId: String(tokenId) }, 'no metadata');
      finished.set(nameOf(key), { ...key, metadata: undefined, again: mayComeYet(tokenUri, err) });
    }
  };

  /** @returns whether it began any fetch */
  const startWith = (due: readonly DueMetadata[], most: number, ofOne: number): boolean => {
    const before = underWay.size;
    for (const token of due) {
      if (underWay.size >= most) break;
      if (underWay.has(nameOf(token)) || ofContract(token.contract) >= ofOne) continue;
      underWay.set(nameOf(token), { contract: token.contract, done: fetchOne(token) });
    }
    return underWay.size > before;
  };

  return {
    count: () => underWay.size,
    async start() {
      for (let hasBegun = true; hasBegun && underWay.size < atOnce; ) {
        const contracts = [...underWay.values()].map(({ contract }) => contract);
        const full = new Set(contracts.filter((contract) => ofContract(contract) >= places));
        const due = await listDueMetadata(db, chainId, { limit: 2 * atOnce, without: [...full] });
        hasBegun = startWith(due, atOnce, places);
        // No contract was left out, so there is none to ask for.
        if (!hasBegun && full.size === 0) return;
      }
      const most = atOnce - places;
      if (underWay.size >= most) return;
      startWith(await listDueMetadata(db, chainId, { limit: 2 * atOnce, without: [] }), most, most);
    },
    /** Waits until one fetch has ended, or for some time. */
    next: () =>
      Promise.race([
        wait(lookMs, undefined, { ref: false }),
        ...[...underWay.values()].map(({ done }) => done),
      ]),
    async save() {
      if (finished.size === 0) return;
      const saved = [...finished];
      await saveMetadata(
        db,
        chainId,
        saved.map(([, fetched]) => fetched),
      );
      for (const [name] of saved) {
        finished.delete(name);
        underWay.delete(name);
      }
    },
  };
}

/** A host may be out, or serve a placeholder for a while. A URI that contains its metadata does not change. */
function mayComeYet(tokenUri: string, error: unknown): boolean {
  return isFetched(tokenUri) && !(error instanceof ForbiddenHostError);
}
