import type { NetworkRegistry } from '../chain/networks.ts';
import type { operations } from '../contract/generated/blockchain.ts';
import { ItemStream } from '../contract/item-stream.ts';
import type { CallerContext, Handlers } from '../contract/operation.ts';
import type { DataProviders } from '../providers/data-providers.ts';
import type { NftEntry } from '../providers/shared/provider.ts';
import { coverageHeaders, coverageOf } from './coverage.ts';
import type { Cursors } from './cursor.ts';
import { historyCsv } from './history-csv.ts';
import { listReply, readPageQuestion } from './page-question.ts';
import { refuseUnsupported } from './search.ts';

export type WalletDeps = {
  readonly networks: Pick<NetworkRegistry, 'find' | 'list'>;
  readonly providers: DataProviders;
  readonly cursors: Cursors;
};

type WalletHandlers = Pick<Handlers<operations, CallerContext>, 'getWalletHistory' | 'listWalletNfts'>;

/** The handlers of the operations that data providers answer. Their answers are passed on and never cached. */
export function createWalletHandlers(deps: WalletDeps): WalletHandlers {
  return {
    async getWalletHistory({ query }, { preferred }) {
      const asked = await readPageQuestion(deps, 'getWalletHistory', query);
      const { question, search } = asked;
      const { dataProvider } = question.network;
      const provider = deps.providers[dataProvider];
      refuseUnsupported(search, dataProvider, provider.filters.history);
      if (preferred(['application/json', 'text/csv']) === 'text/csv') {
        const file = await historyCsv(provider, question);
        return { status: 200, headers: coverageHeaders(file.first), body: file.body };
      }
      const page = await provider.history(question);
      const { records, credits } = page;
      const next = asked.nextPage(page.next);
      const history = {
        ...next.field,
        page: asked.page,
        page_size: records.length,
        limit: String(question.limit),
        result: [...records],
        ...(credits !== undefined && { credits: [...credits] }),
        ...coverageOf(page),
      };
      return { status: 200, headers: { ...next.header, ...coverageHeaders(page) }, body: { history } };
    },

    async listWalletNfts({ query }) {
      const asked = await readPageQuestion(deps, 'listWalletNfts', query);
      const { question, search } = asked;
      const { dataProvider } = question.network;
      const provider = deps.providers[dataProvider];
      refuseUnsupported(search, dataProvider, provider.filters.nfts);
      const page = await provider.nfts(question);
      const { entries } = page;
      const isLarge = sizeOf(entries) > largeBytes;
      return listReply(asked, page, isLarge ? new ItemStream([entries], sizeOf(entries)) : [...entries]);
    },
  };
}

// From here on the text of a page is not made as a whole.
const largeBytes = 256 * 1024;

/** What the metadata of these take in memory, about. */
function sizeOf(entries: readonly NftEntry[]): number {
  const lengths = entries.map(({ metadata, token_uri: uri }) => (metadata?.length ?? 0) + (uri?.length ?? 0));
  return 2 * lengths.reduce((sum, length) => sum + length, 0);
}
