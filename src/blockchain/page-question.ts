import type { NetworkRegistry } from '../chain/networks.ts';
import { problem } from '../errors.ts';
import type { HistoryQuestion, SortOrder } from '../providers/provider.ts';
import type { CursorScope, Cursors, PageStart } from './cursor.ts';
import { readWalletQuestion, type WalletQuery } from './wallet-question.ts';

type PageQuery = Omit<WalletQuery, 'contractAddress'> & {
  readonly cursor?: string;
  readonly order?: SortOrder;
  readonly limit?: number;
};

export type PageQuestion = {
  /** What a data provider is asked, of either list. */
  readonly question: HistoryQuestion;
  /** The cursor of the page after this one, as a part of the answer; nothing when there is none. */
  continued(next: string | undefined): { readonly cursor?: string };
};

type PageDeps = { readonly networks: Pick<NetworkRegistry, 'find'>; readonly cursors: Cursors };

/**
 * Checks what the document cannot and takes from the cursor what was left out beside it.
 * @throws problem naming the first fault; `cursor_invalid` comes last
 */
export async function readPageQuestion(
  { networks, cursors }: PageDeps,
  operation: CursorScope['operation'],
  query: PageQuery,
): Promise<PageQuestion> {
  const { network, address } = await readWalletQuestion(networks, query);
  const { chainId, dataProvider } = network;
  const scope = { operation, dataProvider, chainId, address };
  const start =
    query.cursor === undefined ? firstPage(query) : resumed(cursors.open(scope, query.cursor), query);
  const { order, limit, page } = start;
  return {
    question: { network, address, ...start },
    continued: (next) =>
      next === undefined
        ? {}
        : { cursor: cursors.seal(scope, { order, limit, page: page + 1, position: next }) },
  };
}

// Not defaults of the document: clients that fill those in would contradict their own cursors.
function firstPage({ order = 'DESC', limit = 100 }: PageQuery) {
  return { order, limit, page: 0, position: undefined };
}

function resumed(start: PageStart | undefined, { order, limit }: PageQuery): PageStart {
  const contradicts = (order ?? start?.order) !== start?.order || (limit ?? start?.limit) !== start?.limit;
  if (start !== undefined && !contradicts) return start;
  const { message } = problem('cursor_invalid');
  throw problem('cursor_invalid', {}, { errors: [{ in: 'query', name: 'cursor', message }] });
}
