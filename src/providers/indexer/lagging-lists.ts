import { problem } from '../../base/errors.ts';
import type { Database } from '../../contract/transaction.ts';
import type { MayLag } from '../../db/replica/replica-reads.ts';
import type { DataProvider } from '../shared/provider.ts';
import { createIndexerProvider } from './indexer-provider.ts';
import { readHistoryPlace, readHoldingPosition } from './read/position.ts';
import type { TokenJudges } from './read/token-trust.ts';

type Lists = ReturnType<typeof createIndexerProvider>;
type Options = { readonly db: Database; readonly mayLag: MayLag; readonly judges?: TokenJudges };

/**
 * Returns the lists of the index, from a replica where there is one. Two pages of a walk may come from both servers,
 * and no entry may be missing or repeated. So the page of a history must be complete up to the block where the page
 * before ended, and an NFT list up to its block. Otherwise the primary is asked.
 * @throws problem `service_unavailable` for an NFT list as of a block that the primary removed and does not have
 * again yet
 */
export function createLaggingLists({ db, mayLag, ...judging }: Options): Lists {
  const listsOf = (from: Database) => createIndexerProvider({ db: from, ...judging });
  const primary = listsOf(db);
  return {
    filters: primary.filters,
    async history(question) {
      const page = await mayLag((from) => listsOf(from).history(question));
      const { position } = question;
      if (position === undefined || reaches(page, readHistoryPlace(position).blockNumber)) return page;
      return primary.history(question);
    },
    async nfts(question) {
      const page = await mayLag((from) => listsOf(from).nfts(question));
      const { position } = question;
      const asOf = position === undefined ? 0n : readHoldingPosition(position).asOf;
      if (reaches(page, asOf)) return page;
      const present = await primary.nfts(question);
      // While the chain replaces blocks, the owner at this number is unknown.
      if (!reaches(present, asOf)) throw problem('service_unavailable');
      return present;
    },
    seen: (networks, wallet) => mayLag((from) => listsOf(from).seen(networks, wallet)),
  };
}

type Page = Pick<Awaited<ReturnType<DataProvider['history']>>, 'completeTo'>;

const reaches = ({ completeTo }: Page, block: bigint): boolean =>
  completeTo !== undefined && completeTo.blockNumber >= block;
