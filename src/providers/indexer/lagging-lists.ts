import type { Database } from '../../contract/transaction.ts';
import type { MayLag } from '../../db/replica-reads.ts';
import type { DataProvider } from '../provider.ts';
import { createIndexerProvider } from './indexer-provider.ts';
import { readHistoryPlace, readHoldingPosition } from './read/position.ts';

type Lists = ReturnType<typeof createIndexerProvider>;
type Options = { readonly db: Database; readonly mayLag: MayLag };

/**
 * The lists of the index, from a replica where there is one. A page that goes on with a walk is complete at least to the block
 * where the page before ended, and an NFT list to the block that it is as of: else the primary is asked, so that no walk
 * misses or repeats an entry because its pages come from both.
 */
export function createLaggingLists({ db, mayLag }: Options): Lists {
  const primary = createIndexerProvider({ db });
  return {
    filters: primary.filters,
    async history(question) {
      const page = await mayLag((from) => createIndexerProvider({ db: from }).history(question));
      const { position } = question;
      if (position === undefined || reaches(page, readHistoryPlace(position).blockNumber)) return page;
      return primary.history(question);
    },
    async nfts(question) {
      const page = await mayLag((from) => createIndexerProvider({ db: from }).nfts(question));
      const { position } = question;
      if (position === undefined || reaches(page, readHoldingPosition(position).asOf)) return page;
      return primary.nfts(question);
    },
    seen: (networks, wallet) => mayLag((from) => createIndexerProvider({ db: from }).seen(networks, wallet)),
  };
}

type Page = Pick<Awaited<ReturnType<DataProvider['history']>>, 'completeTo'>;

const reaches = ({ completeTo }: Page, block: bigint): boolean =>
  completeTo !== undefined && completeTo.blockNumber >= block;
