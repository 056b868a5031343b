import type { NetworkRegistry } from '../chain/networks.ts';
import { cursorInvalid } from '../contract/cursor.ts';
import { basePaths } from '../contract/documents.ts';
import { nextLink } from '../contract/list-cursor.ts';
import type { HistoryQuestion, NftQuestion, SortOrder } from '../providers/shared/provider.ts';
import { coverageHeaders, coverageOf } from './coverage.ts';
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

type NextPage = {
  readonly field: { readonly cursor?: string };
  readonly header: { readonly Link?: string };
};

export type PageQuestion = {
  /** The page that a data provider is asked for, the same for both lists. */
  readonly question: HistoryQuestion & NftQuestion;
  readonly search: Search;
  /** Number of the page, counted from 0. */
  readonly page: number;
  /**
   * The field of the response with the cursor of the next page, and the header that leads there.
   * @param next the provider's position of the next page; undefined on the last page, which has neither
   */
  nextPage(next: string | undefined): NextPage;
};

const paths: Readonly<Record<CursorScope['operation'], string>> = {
  getWalletHistory: '/wallet/history',
  listWalletNfts: '/nft',
  listWalletTokens: '/wallet/tokens',
  listWalletApprovals: '/wallet/approvals',
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
    question: { network, address, order, limit, position, filter: filterOf(search) },
    search,
    page,
    nextPage(next) {
      if (next === undefined) return { field: {}, header: {} };
      const cursor = cursors.seal(scope, { order, limit, search, page: page + 1, position: next });
      // The cursor has the rest of the question.
      const list = { path: `${basePaths.blockchain}${paths[operation]}`, query: { chainId, address } };
      return { field: { cursor }, header: nextLink(list, cursor) };
    },
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
  throw cursorInvalid('cursor');
}

type ListPage = Parameters<typeof coverageOf>[0] & {
  readonly entries: readonly unknown[];
  readonly next: string | undefined;
};

/** Returns the reply with a page of a list. @param result the entries as they are sent */
export function listReply<Result>(asked: PageQuestion, page: ListPage, result: Result) {
  const { field, header } = asked.nextPage(page.next);
  return {
    status: 200 as const,
    headers: { ...header, ...coverageHeaders(page) },
    body: {
      ...field,
      page: asked.page,
      page_size: page.entries.length,
      result,
      ...coverageOf(page),
    },
  };
}
