import { problem } from '../../base/errors.ts';
import type { Database } from '../../contract/transaction.ts';
import { keptMetadataText } from '../shared/kept-metadata.ts';
import { normalizedMetadata } from '../shared/normalized-metadata.ts';
import type { DataProvider, Freshness, HistoryFilter, NftEntry } from '../shared/provider.ts';
import { hasWanted } from './classify/facets.ts';
import type { WalletTransaction } from './classify/stored-moves.ts';
import { findCoverage } from './read/coverage-store.ts';
import type { HistorySearch } from './read/history-page-store.ts';
import { findBlockAt, findTimeBackMs, listHistory, type WalletCreditRow } from './read/history-store.ts';
import { type IndexedHolding, listHoldings } from './read/holding-store.ts';
import { notIndexed } from './read/not-indexed.ts';
import {
  readHistoryPlace,
  readHoldingPosition,
  writeHistoryPlace,
  writeHoldingPosition,
} from './read/position.ts';
import { findSeen } from './read/seen-store.ts';
import { toCredit, toRecord } from './read/to-record.ts';
import {
  createTokenJudges,
  type JudgedNetwork,
  type TokenJudgement,
  type TokenJudges,
} from './read/token-trust.ts';
import { findContracts, type KnownContract } from './store/tokens/contract-store.ts';
import { findPageTokens, type KnownToken } from './store/tokens/token-store.ts';
import { areStartsKnown } from './store/write/start-store.ts';

/** The operations that need nothing but the database. */
type IndexLists = Pick<DataProvider, 'filters' | 'history' | 'nfts' | 'seen'>;

type ProviderOptions = { readonly db: Database; readonly judges?: TokenJudges };

/**
 * Answers from the built-in index. A position is a place in the chain, so paging continues at the right place after a
 * reorganisation too.
 * @throws problem `service_unavailable` while the network has no indexed block; `cursor_invalid` for a malformed
 * position
 */
export function createIndexerProvider({ db, judges = createTokenJudges() }: ProviderOptions): IndexLists {
  const textsOf = async (network: JudgedNetwork, contracts: Iterable<string>) => {
    const known = await findContracts(db, network.chainId, [...new Set(contracts)]);
    const judge = judges.of(network);
    return new Map(known.map((text) => [text.contract, { ...text, ...judge(text) }]));
  };
  const isShown = (includeSpam: false | undefined, { possible_spam: isSpam }: { possible_spam?: boolean }) =>
    includeSpam !== false || isSpam !== true;

  /**
   * @param until the last block that the caller named
   * @throws problem `block_not_indexed` where the index begins after it
   */
  const coverageIn = async (
    chainId: string,
    range: HistorySearch,
    until: bigint | undefined,
    { blockNumber: head }: Freshness,
  ) => {
    const coverage = await findCoverage(db, chainId, range);
    if (coverage === undefined || until === undefined) return coverage;
    if (until < coverage.fromBlock) throw notIndexed(until, 'toBlock');
    return { ...coverage, toBlock: until < head ? until : head };
  };

  return {
    filters: {
      history: [
        ...(['fromBlock', 'toBlock', 'fromDate', 'toDate'] as const),
        ...(['category', 'direction', 'token', 'counterparty', 'includeSpam', 'entries'] as const),
      ],
      nfts: ['toBlock', 'toDate', 'contract', 'includeSpam'],
    },

    async history({ network, address: wallet, order, limit, position, filter = {} }) {
      const after = position === undefined ? undefined : readHistoryPlace(position);
      const { chainId, currency } = network;
      // One more row than asked for shows whether there is a next page.
      const search = await searchIn(db, { chainId, wallet }, filter);
      // A row that the index sorted as spam may have a listed token.
      const { includeSpam, ...anything } = search;
      const asked = judges.hasList(chainId) ? anything : search;
      const found = await listHistory(db, { chainId, wallet, order, limit: limit + 1, after, search: asked });
      if (found === undefined || found.isUnsorted) throw problem('service_unavailable');
      const page = found.rows.slice(0, limit);
      const last = found.rows.length > limit || found.isCut ? page.at(-1) : undefined;
      const listed = page.filter(isWithin(filter));
      const rows = listed.filter(isTransaction).filter((row) => hasWanted(row, filter));
      const coverage = await coverageIn(chainId, search, filter.toBlock, found.completeTo);
      const credits = listed.flatMap((row) => (isTransaction(row) ? [] : [toCredit(row, { currency })]));
      const texts = await textsOf(network, rows.flatMap(contractsOf));
      return {
        records: rows
          .map((row) => toRecord(row, { currency, texts }))
          .filter((record) => isShown(includeSpam, record)),
        ...(filter.entries !== undefined && { credits }),
        next: last && writeHistoryPlace(last),
        completeTo: found.completeTo,
        ...(coverage && { coverage }),
      };
    },

    async nfts({ network, address: wallet, order, limit, position, filter = {} }) {
      const { chainId } = network;
      const { contract: contracts, includeSpam, ...time } = filter;
      const { asOf, after } =
        position === undefined
          ? { asOf: (await searchIn(db, { chainId, wallet }, time, true)).toBlock, after: undefined }
          : readHoldingPosition(position);
      const page = { chainId, wallet, order, limit: limit + 1, asOf, after, contracts };
      const found = await listHoldings(db, page);
      if (found === undefined) throw problem('service_unavailable');
      const { rows, tokens } = await fittingPart(db, chainId, found.rows.slice(0, limit));
      const texts = await textsOf(
        network,
        rows.map(({ contract }) => contract),
      );
      const byKey = new Map(tokens.map((token) => [keyOf(token), token]));
      const last = found.rows.length > rows.length ? rows.at(-1) : found.goesOnAt;
      const head = found.completeTo.blockNumber;
      const listAsOf = asOf === undefined || asOf > head ? head : asOf;
      const coverage = await coverageIn(chainId, { toBlock: listAsOf }, filter.toBlock, found.completeTo);
      const isRead = coverage !== undefined && listAsOf >= coverage.fromBlock;
      const isWhole = coverage?.fromBlock === 0n || (isRead && (await areStartsKnown(db, chainId, wallet)));
      return {
        entries: rows
          .map((row) => toEntry(wallet, row, texts.get(row.contract), byKey.get(keyOf(row))))
          .filter((entry) => isShown(includeSpam, entry)),
        next: last && writeHoldingPosition({ asOf: listAsOf, after: last }),
        completeTo: found.completeTo,
        ...(coverage && { coverage: { ...coverage, nftAmounts: isWhole ? 'whole' : 'since_start' } }),
      };
    },

    seen: (networks, wallet) =>
      findSeen(
        db,
        networks.map(({ chainId }) => chainId),
        wallet,
      ),
  };
}

// A page with the metadata in both forms has about 6 MB.
const maxPageBytes = 2 * 1024 * 1024;

/** Returns the first of these holdings, as many as a page has bytes for, with the texts and trust of their tokens. */
async function fittingPart(db: Database, chainId: string, holdings: readonly IndexedHolding[]) {
  if (holdings.length === 0) return { rows: [], tokens: [] };
  const { fitting, tokens } = await findPageTokens(db, chainId, holdings, maxPageBytes);
  return { rows: holdings.slice(0, fitting), tokens };
}

/** Returns whether a row is of the time that the filter names. */
const isWithin =
  ({ fromDate, toDate }: HistoryFilter) =>
  ({ blockTime }: { readonly blockTime: Date }): boolean =>
    (fromDate === undefined || blockTime >= fromDate) && (toDate === undefined || blockTime <= toDate);

/**
 * Returns the filter with its dates as blocks, which are found among the wallet's own.
 * @param isList whether the filter is of a list as of a moment, which ends before the first block that may be later
 */
async function searchIn(
  db: Database,
  whose: { readonly chainId: string; readonly wallet: string },
  { fromDate, toDate, ...search }: HistoryFilter,
  isList = false,
): Promise<HistorySearch> {
  const withCredits = search.entries !== undefined;
  if (fromDate === undefined && toDate === undefined) return search;
  // Where times go back, the range has blocks of other times too.
  const backMs = await findTimeBackMs(db, whose.chainId);
  const at = (moment: Date, ms: number) =>
    findBlockAt(db, whose, new Date(moment.getTime() + ms), withCredits);
  const from = fromDate && (await at(fromDate, -backMs));
  const beyond = toDate && (await at(toDate, 1 + (isList ? -backMs : backMs)));
  return {
    ...search,
    ...(from !== undefined && { fromBlock: from }),
    ...(beyond !== undefined && { toBlock: beyond - 1n }),
  };
}

function isTransaction(row: WalletTransaction | WalletCreditRow): row is WalletTransaction {
  return 'hash' in row;
}

function contractsOf({ moves: { erc20, nft, approvals } }: WalletTransaction): string[] {
  return [...erc20, ...nft, ...approvals].map(({ token }) => token);
}

function keyOf({ contract, tokenId }: { readonly contract: string; readonly tokenId: bigint }): string {
  return `${contract}.${tokenId}`;
}

function toEntry(
  wallet: string,
  { contract, tokenId, standard, amount, changedBlock }: IndexedHolding,
  text: (KnownContract & TokenJudgement) | undefined,
  token: KnownToken | undefined,
): NftEntry {
  // Rows of earlier releases have characters that strict parsers reject.
  const metadata = token?.metadata == null ? null : keptMetadataText(token.metadata);
  return {
    token_address: contract,
    token_id: tokenId.toString(),
    contract_type: standard,
    owner_of: wallet,
    amount: amount.toString(),
    block_number: changedBlock.toString(),
    block_number_minted: token?.mintedBlock?.toString() ?? null,
    token_hash: null,
    name: text?.name ?? null,
    symbol: text?.symbol ?? null,
    token_uri: token?.tokenUri ?? null,
    metadata,
    last_token_uri_sync: token?.uriReadAt?.toISOString() ?? null,
    last_metadata_sync: token?.metadataReadAt?.toISOString() ?? null,
    ...(token?.minter != null && standard === 'ERC721' && { minter_address: token.minter }),
    possible_spam: text?.trust === 'spam',
    ...(text?.trust === 'verified' && { verified_collection: true }),
    ...normalized(metadata),
  };
}

/** Returns the metadata in the uniform shape; left out where there are none. Only valid JSON is ever stored. */
function normalized(metadata: string | null): Pick<NftEntry, 'normalized_metadata'> {
  const shape = metadata === null ? undefined : normalizedMetadata.parse(JSON.parse(metadata));
  return shape == null ? {} : { normalized_metadata: shape };
}
