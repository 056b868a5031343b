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
 * The lists of the index, from a replica where there is one. A page that goes on with a walk is complete at least to the block
 * where the page before ended, and an NFT list to the block that it is as of: else the primary is asked, so that no walk
 * misses or repeats an entry because its pages come from both.
 * @throws problem `service_unavailable` for an NFT list as of a block that the primary does not have again yet, after it took
 *   blocks back
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
      // While the chain replaces blocks, nobody knows what the wallet will own at that of this number.
      if (!reaches(present, asOf)) throw problem('service_unavailable');
      return present;
    },
    seen: (networks, wallet) => mayLag((from) => listsOf(from).seen(networks, wallet)),
  };
}

type Page = Pick<Awaited<ReturnType<DataProvider['history']>>, 'completeTo'>;

const reaches = ({ completeTo }: Page, block: bigint): boolean =>
  completeTo !== undefined && completeTo.blockNumber >= block;
