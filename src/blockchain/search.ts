import { problem } from '../base/errors.ts';
import { parseIsoDate } from '../base/iso-date.ts';
import type { InputError } from '../base/problem.ts';
import { addressFault } from '../chain/address.ts';
import type { components } from '../contract/generated/blockchain.ts';
import type { HistoryFilter, NftListFilter } from '../providers/shared/provider.ts';

/** What a caller may send to narrow a list. */
export type SearchQuery = {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly fromDate?: string;
  readonly toDate?: string;
  readonly category?: readonly components['schemas']['TransactionCategory'][];
  readonly direction?: components['schemas']['TransferDirection'];
  readonly token?: readonly string[];
  readonly contract?: readonly string[];
  readonly counterparty?: string;
  readonly includeSpam?: boolean;
  readonly entries?: readonly components['schemas']['HistoryEntryKind'][];
};

/** A search in texts, the same for the same search however it was written; A filter that is not set is absent. */
export type Search = Readonly<Record<string, string>>;

const dates = ['fromDate', 'toDate'] as const;
const lists = ['token', 'contract'] as const;
const calendar = 'must be an RFC 3339 date or date-time that the calendar has, such as 2027-05-04T09:00:00Z';

/** What the document cannot reject: days, checksums, and ranges that contradict themselves. */
export function searchFaults(query: SearchQuery): InputError[] {
  const at = (name: string) => ({ in: 'query', name }) as const;
  const fault = (name: string, what: string): InputError => ({ ...at(name), message: `${name} ${what}` });
  const addresses = [
    ...lists.flatMap((name) => (query[name] ?? []).map((text) => addressFault(text, at(name)))),
    query.counterparty === undefined ? undefined : addressFault(query.counterparty, at('counterparty')),
  ];
  const noDays = dates
    .filter((name) => query[name] !== undefined && parseIsoDate(query[name]) === undefined)
    .map((name) => fault(name, calendar));
  const { fromBlock, toBlock, fromDate, toDate } = query;
  const twice = [
    ...(fromBlock !== undefined && fromDate !== undefined ? ['from'] : []),
    ...(toBlock !== undefined && toDate !== undefined ? ['to'] : []),
  ].map((end) => fault(`${end}Date`, `must not be sent together with ${end}Block`));
  const backwards =
    fromBlock !== undefined && toBlock !== undefined && BigInt(toBlock) < BigInt(fromBlock)
      ? [fault('toBlock', 'must not be below fromBlock')]
      : [];
  const early =
    noDays.length === 0 && (momentOf(toDate) ?? Infinity) < (momentOf(fromDate) ?? -Infinity)
      ? [fault('toDate', 'must not be before fromDate')]
      : [];
  const found = addresses.filter((each): each is InputError => each !== undefined);
  return [...noDays, ...twice, ...backwards, ...early, ...found];
}

function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseIsoDate(text)?.getTime();
}

/**
 * The search of a query without faults. `includeSpam=true` and `entries=transactions` change nothing, but contradict a
 * cursor of another search.
 */
export function searchOf(query: SearchQuery): Search {
  const { fromBlock, toBlock, category, direction, counterparty, includeSpam, entries } = query;
  const joined = (values: readonly string[] | undefined) =>
    values === undefined || values.length === 0 ? undefined : [...new Set(values)].sort().join();
  const texts = {
    fromBlock: fromBlock === undefined ? undefined : String(BigInt(fromBlock)),
    toBlock: toBlock === undefined ? undefined : String(BigInt(toBlock)),
    ...Object.fromEntries(dates.map((name) => [name, isoOf(query[name])])),
    category: joined(category),
    direction,
    ...Object.fromEntries(lists.map((name) => [name, joined(query[name]?.map(lower))])),
    counterparty: counterparty?.toLowerCase(),
    includeSpam: includeSpam === undefined ? undefined : String(includeSpam),
    entries: joined(entries),
  };
  const sent = Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(sent);
}

const lower = (text: string) => text.toLowerCase();

function isoOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : parseIsoDate(text)?.toISOString();
}

/** The values where nothing is sent. */
const usual: Search = { includeSpam: 'true', entries: 'transactions' };

/** The search without values that are the defaults. */
export function narrowing(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([name, text]) => text !== usual[name]));
}

/** Whether what was sent in addition to a cursor is part of the search that the cursor belongs to. */
export function isPartOf(sent: Search, whole: Search): boolean {
  return Object.entries(sent).every(([name, text]) => text === (whole[name] ?? usual[name]));
}

/** @throws problem `filter_unsupported` about the first part of the search that the provider cannot do */
export function refuseUnsupported(search: Search, provider: string, filters: readonly string[]): void {
  const unsupported = Object.keys(filterOf(search)).filter((name) => !filters.includes(name));
  const [first] = unsupported;
  if (first === undefined) return;
  const errors = unsupported.map((name): InputError => {
    const { message } = problem('filter_unsupported', { provider, parameter: name });
    return { in: 'query', name, message };
  });
  throw problem('filter_unsupported', { provider, parameter: first }, { errors });
}

/** The search as data providers take it. */
export function filterOf(search: Search): HistoryFilter & NftListFilter {
  const { fromBlock, toBlock, fromDate, toDate, category, direction, token, contract, counterparty } = search;
  return {
    ...(fromBlock !== undefined && { fromBlock: BigInt(fromBlock) }),
    ...(toBlock !== undefined && { toBlock: BigInt(toBlock) }),
    ...(fromDate !== undefined && { fromDate: new Date(fromDate) }),
    ...(toDate !== undefined && { toDate: new Date(toDate) }),
    // The document has rejected every other text.
    ...(category !== undefined && { category: category.split(',') as HistoryFilter['category'] & object }),
    ...(direction !== undefined && { direction: direction as 'send' | 'receive' }),
    ...(token !== undefined && { token: token.split(',') }),
    ...(contract !== undefined && { contract: contract.split(',') }),
    ...(counterparty !== undefined && { counterparty }),
    ...(search['includeSpam'] === 'false' && { includeSpam: false as const }),
    ...(search['entries'] !== undefined && {
      entries: search['entries'].split(',') as HistoryFilter['entries'] & object,
    }),
  };
}
