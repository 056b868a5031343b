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
import type { MoralisClient } from './client.ts';
import { parseChains } from './parse-chains.ts';
import { parseHistory } from './parse-history.ts';
import { parseNfts } from './parse-nfts.ts';
import { parseTokens } from './parse-tokens.ts';
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

async function askHistory({ client, onRepair }: Asks, question: HistoryQuestion): Promise<HistoryPage> {
  const { network, address, order, limit, position, filter = {} } = question;
  const { fromBlock, toBlock, fromDate, toDate } = filter;
  const answer = await client.get(`/wallets/${address}/history`, {
    chain: network.hexChainId,
    order,
    ...(fromBlock !== undefined && { from_block: String(fromBlock) }),
    ...(toBlock !== undefined && { to_block: String(toBlock) }),
    // Whole seconds, rounded into the range.
    ...(fromDate !== undefined && { from_date: String(Math.ceil(fromDate.getTime() / 1_000)) }),
    ...(toDate !== undefined && { to_date: String(Math.floor(toDate.getTime() / 1_000)) }),
    // The upstream takes the limit with the first page only; its cursor remembers it.
    ...(position === undefined ? { limit: String(limit) } : { cursor: position }),
  });
  const { transactions, next } = parseHistory(answer, limit, onRepair);
  const viewpoint = { wallet: address, currency: network.currency };
  return {
    records: transactions.map((transaction) => toHistoryRecord(transaction, viewpoint)),
    next: moving(position, next),
  };
}

async function askNfts({ client, onRepair }: Asks, question: NftQuestion): Promise<WalletNftPage> {
  const { network, address, limit, position, filter = {} } = question;
  const contracts = (filter.contract ?? []).map((contract, index) => [`token_addresses[${index}]`, contract]);
  const answer = await client.get(`/${address}/nft`, {
    chain: network.hexChainId,
    format: 'decimal',
    normalizeMetadata: 'true',
    limit: String(limit),
    ...Object.fromEntries(contracts),
    ...(filter.includeSpam === false && { exclude_spam: 'true' }),
    ...(position === undefined ? {} : { cursor: position }),
  });
  const { entries, next } = parseNfts(answer, limit, onRepair);
  return { entries, next: moving(position, next) };
}

async function askTokens({ client, onRepair }: Asks, question: ListQuestion): Promise<TokenPage> {
  const { network, address, limit, position, filter = {} } = question;
  const answer = await client.get(`/wallets/${address}/tokens`, {
    chain: network.hexChainId,
    exclude_native: 'true',
    limit: String(limit),
    ...(filter.includeSpam === false && { exclude_spam: 'true' }),
    ...(position === undefined ? {} : { cursor: position }),
  });
  const { entries, next } = parseTokens(answer, limit, onRepair);
  return { entries, next: moving(position, next) };
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
