import type { NetworkRegistry } from '../chain/networks.ts';
import { problem } from '../errors.ts';
import type { HistoryQuestion, NftQuestion, SortOrder } from '../providers/provider.ts';
import type { CursorScope, Cursors, PageStart } from './cursor.ts';
import {
  filterOf,
  isPartOf,
  narrowing,
  type Search,
  type SearchQuery,
  searchFaults,
  searchOf,
} from './search.ts';
import { readWalletQuestion, type WalletQuery } from './wallet-question.ts';

type PageQuery = Omit<WalletQuery, 'contractAddress'> &
  SearchQuery & {
    readonly cursor?: string;
    readonly order?: SortOrder;
    readonly limit?: number;
  };

export type PageQuestion = {
  /** The page that a data provider is asked for, the same for both lists. */
  readonly question: HistoryQuestion & NftQuestion;
  readonly search: Search;
  /**
   * The field of the response with the cursor of the next page.
   * @param next the provider's position of the next page; undefined on the last page, which has no such field
   */
  nextCursor(next: string | undefined): { readonly cursor?: string };
};

type PageDeps = { readonly networks: Pick<NetworkRegistry, 'find'>; readonly cursors: Cursors };

/**
 * Checks a query beyond the contract document, and takes the order, the limit and the search that it lacks from its
 * cursor.
 * @throws ProblemError about the first fault; a faulty cursor comes last, as `cursor_invalid`
 */
export async function readPageQuestion(
  { networks, cursors }: PageDeps,
  operation: CursorScope['operation'],
  query: PageQuery,
): Promise<PageQuestion> {
  const { network, address } = await readWalletQuestion(networks, query, searchFaults(query));
  const { chainId, dataProvider } = network;
  const scope = { operation, dataProvider, chainId, address };
  const start =
    query.cursor === undefined ? firstPage(query) : resume(cursors.open(scope, query.cursor), query);
  const { order, limit, page, position, search } = start;
  return {
    question: { network, address, order, limit, page, position, filter: filterOf(search) },
    search,
    nextCursor: (next) =>
      next === undefined
        ? {}
        : { cursor: cursors.seal(scope, { order, limit, search, page: page + 1, position: next }) },
  };
}

// These defaults are not in the document: clients that fill them in would contradict their own cursors.
function firstPage({ order = 'DESC', limit = 100, ...query }: PageQuery) {
  return { order, limit, page: 0, position: undefined, search: narrowing(searchOf(query)) };
}

function resume(start: PageStart | undefined, query: PageQuery): PageStart {
  const { order = start?.order, limit = start?.limit } = query;
  const agrees = order === start?.order && limit === start?.limit;
  if (start !== undefined && agrees && isPartOf(searchOf(query), start.search)) return start;
  const { message } = problem('cursor_invalid');
  throw problem('cursor_invalid', {}, { errors: [{ in: 'query', name: 'cursor', message }] });
}
