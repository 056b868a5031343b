import { type FixedCode, problem } from '../../errors.ts';
import type { DataProvider, HistoryPage, HistoryQuestion, NftPage, NftQuestion } from '../provider.ts';
import type { MoralisClient } from './client.ts';
import { parseHistory } from './parse-history.ts';
import { parseNfts } from './parse-nfts.ts';
import { toRecord } from './to-record.ts';
import { UpstreamFault } from './upstream-fault.ts';

/**
 * The hosted upstream (Moralis EVM API 2.2) as a data provider. It lists NFTs in its own order, and its pages are as
 * stable as its cursors.
 */
export function createMoralisProvider({ client }: { client: MoralisClient }): DataProvider {
  return {
    filters: {
      history: ['fromBlock', 'toBlock', 'fromDate', 'toDate'],
      nfts: ['contract', 'includeSpam'],
    },
    history: (question) => orProblem('history_unavailable', () => askHistory(client, question)),
    nfts: (question) => orProblem('nfts_unavailable', () => askNfts(client, question)),
  };
}

async function askHistory(client: MoralisClient, question: HistoryQuestion): Promise<HistoryPage> {
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
  const { transactions, next } = parseHistory(answer, limit);
  const viewpoint = { wallet: address, currency: network.currency };
  return {
    records: transactions.map((transaction) => toRecord(transaction, viewpoint)),
    next: moving(position, next),
  };
}

async function askNfts(client: MoralisClient, question: NftQuestion): Promise<NftPage> {
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
  const { entries, next } = parseNfts(answer, limit);
  return { entries, next: moving(position, next) };
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
