import type { z } from 'zod';
import { type FixedCode, problem } from '../../base/errors.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type {
  DataProvider,
  HistoryPage,
  HistoryQuestion,
  ListQuestion,
  NftQuestion,
  Seen,
  TokenPage,
  WalletNftPage,
} from '../shared/provider.ts';
import { boundNfts } from './bounded-nfts.ts';
import type { MoralisClient } from './client.ts';
import { envelope } from './fields.ts';
import { parseChains } from './parse-chains.ts';
import { upstreamTransaction } from './parse-history.ts';
import { upstreamNft } from './parse-nfts.ts';
import { upstreamToken } from './parse-tokens.ts';
import { readUpstreamAnswer } from './read-answer.ts';
import type { OnRepair } from './repairs.ts';
import { toHistoryRecord } from './to-record.ts';
import { UpstreamFault } from './upstream-fault.ts';

type ProviderOptions = {
  readonly client: MoralisClient;
  /** Called with the name of each field of an answer that did not fit, and was left out or replaced. */
  readonly onRepair?: OnRepair | undefined;
};
type Asks = Required<ProviderOptions> & { readonly onRepair: OnRepair };

/**
 * The hosted upstream (Moralis EVM API 2.2) as a data provider. It lists NFTs in its own order, and its pages are as
 * stable as its cursors.
 */
export function createMoralisProvider({ client, onRepair = () => {} }: ProviderOptions): DataProvider {
  const asks = { client, onRepair };
  return {
    filters: {
      history: ['fromBlock', 'toBlock', 'fromDate', 'toDate'],
      nfts: ['contract', 'includeSpam'],
    },
    history: (question) => orProblem('history_unavailable', () => askHistory(asks, question)),
    nfts: (question) => orProblem('nfts_unavailable', () => askNfts(asks, question)),
    tokens: (question) => orProblem('tokens_unavailable', () => askTokens(asks, question)),
    seen: (networks, address) => orProblem('history_unavailable', () => askSeen(client, networks, address)),
  };
}

type Page<Item> = {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly item: Item;
  /** Entries of the page at most. */
  readonly most: number;
};

/** Asks for a page of a list. */
async function askPage<Item extends z.ZodType>(
  { client, onRepair }: Asks,
  { network, position }: Pick<ListQuestion, 'network' | 'position'>,
  { path, query, item, most }: Page<Item>,
) {
  const answer = await client.get(path, {
    chain: network.hexChainId,
    ...query,
    ...(position !== undefined && { cursor: position }),
  });
  const {
    result: entries,
    cursor: next,
    leftOut,
  } = readUpstreamAnswer(envelope(item, most), answer, onRepair);
  return { entries, next: moving(position, next), leftOut };
}

async function askHistory(asks: Asks, question: HistoryQuestion): Promise<HistoryPage> {
  const { network, address, order, limit, position, filter = {} } = question;
  const { fromBlock, toBlock, fromDate, toDate } = filter;
  const query = {
    order,
    ...(fromBlock !== undefined && { from_block: String(fromBlock) }),
    ...(toBlock !== undefined && { to_block: String(toBlock) }),
    // Whole seconds, rounded into the range.
    ...(fromDate !== undefined && { from_date: String(Math.ceil(fromDate.getTime() / 1_000)) }),
    ...(toDate !== undefined && { to_date: String(Math.floor(toDate.getTime() / 1_000)) }),
    // The upstream takes the limit with the first page only; its cursor remembers it.
    ...(position === undefined && { limit: String(limit) }),
  };
  const page = { path: `/wallets/${address}/history`, query, item: upstreamTransaction, most: limit };
  const { entries, ...rest } = await askPage(asks, question, page);
  const viewpoint = { wallet: address, currency: network.currency };
  return { records: entries.map((transaction) => toHistoryRecord(transaction, viewpoint)), ...rest };
}

async function askNfts(asks: Asks, question: NftQuestion): Promise<WalletNftPage> {
  const { address, limit, filter = {} } = question;
  const contracts = (filter.contract ?? []).map((contract, index) => [`token_addresses[${index}]`, contract]);
  const query = {
    format: 'decimal',
    normalizeMetadata: 'true',
    limit: String(limit),
    ...Object.fromEntries(contracts),
    ...(filter.includeSpam === false && { exclude_spam: 'true' }),
  };
  const page = { path: `/${address}/nft`, query, item: upstreamNft, most: limit };
  const { entries, ...rest } = await askPage(asks, question, page);
  return { entries: boundNfts(entries), ...rest };
}

async function askTokens(asks: Asks, question: ListQuestion): Promise<TokenPage> {
  const { address, limit, filter = {} } = question;
  const query = {
    exclude_native: 'true',
    limit: String(limit),
    ...(filter.includeSpam === false && { exclude_spam: 'true' }),
  };
  // The native asset may come in addition.
  const page = { path: `/wallets/${address}/tokens`, query, item: upstreamToken, most: limit + 1 };
  const { entries, ...rest } = await askPage(asks, question, page);
  return { entries: entries.filter((token) => token !== undefined), ...rest };
}

// The upstream takes so many at once.
const chainsAtOnce = 25;

async function askSeen(
  client: MoralisClient,
  networks: readonly Network[],
  address: string,
): Promise<ReadonlyMap<string, Seen>> {
  const found = new Map<string, Seen>();
  for (let start = 0; start < networks.length; start += chainsAtOnce) {
    const asked = networks.slice(start, start + chainsAtOnce);
    const chains = asked.map(({ hexChainId }, index) => [`chains[${index}]`, hexChainId]);
    const answer = await client.get(`/wallets/${address}/chains`, Object.fromEntries(chains));
    const seen = parseChains(answer);
    for (const { chainId, hexChainId } of asked) {
      const own = seen.get(hexChainId);
      if (own !== undefined) found.set(chainId, own);
    }
  }
  return found;
}

/** A cursor that repeats itself would make callers page for ever. */
function moving(position: string | undefined, next: string | undefined): string | undefined {
  if (next === undefined || next !== position) return next;
  throw new UpstreamFault('malformed', 'the cursor of the next page is that of this page');
}

// An upstream may ask for years by mistake.
const longestRetryMs = 5 * 60_000;

async function orProblem<T>(code: FixedCode, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof UpstreamFault)) throw cause;
    const { retryAfterMs } = cause;
    throw problem(code, {}, { cause, retryAfterMs: retryAfterMs && Math.min(retryAfterMs, longestRetryMs) });
  }
}
