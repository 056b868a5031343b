import type { HistoryFilter } from '../../shared/provider.ts';
import { wantedFacets } from '../classify/facets.ts';
import { allKinds, kindsOf } from '../classify/kinds.ts';
import { bytes } from '../store/rows/bulk-store.ts';
import { creditKinds } from '../store/rows/ledger-rows.ts';
import { creditRows } from './credit-pages.ts';

/** A place in the chain's order of transactions. */
export type HistoryPlace = { readonly blockNumber: bigint; readonly index: number };

/** What narrows a history, with its dates turned into blocks. */
export type HistorySearch = Omit<HistoryFilter, 'fromDate' | 'toDate'>;

export type HistoryRequest = {
  readonly chainId: string;
  readonly wallet: string;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  /** Exclusive. */
  readonly after: HistoryPlace | undefined;
  readonly search?: HistorySearch;
};

// The statements of pages, without the code that runs them: tests ask for their plans.
const directions = {
  ASC: { comparison: '>', order: 'block_number, tx_index' },
  DESC: { comparison: '<', order: 'block_number DESC, tx_index DESC' },
} as const;

const own = 'chain_id = :chainId AND wallet = :wallet::bytea';

/** One statement, so that the rows and the head of the index are of the same moment. */
export function historyQuery({ chainId, wallet, order, limit, after, search = {} }: HistoryRequest) {
  const direction = directions[order];
  const { fromBlock, toBlock } = search;
  const range = [
    ...(after === undefined ? [] : [`(block_number, tx_index) ${direction.comparison} (:block, :index)`]),
    ...(fromBlock === undefined ? [] : ['block_number >= :fromBlock']),
    ...(toBlock === undefined ? [] : ['block_number <= :toBlock']),
  ]
    .map((condition) => `AND ${condition}`)
    .join(' ');
  const page = `${range} ORDER BY ${direction.order} LIMIT :limit`;
  const places = placesOf(search, page);
  const columns =
    'block_number, tx_index, tx_hash, block_hash, block_time, tx, moves, internal_calls, verdicts';
  const transactions =
    places === undefined
      ? `SELECT ${columns} FROM wallet_history WHERE ${own} ${page}`
      : `SELECT h.* FROM (SELECT DISTINCT block_number, tx_index FROM (${places.sql}) all_places
           ORDER BY ${direction.order} LIMIT :limit) p
         CROSS JOIN LATERAL (SELECT ${columns} FROM wallet_history w WHERE ${own}
           AND w.block_number = p.block_number AND w.tx_index = p.tx_index) h`;
  const credits = creditRows({ search, direction, afterIndex: after?.index });
  const { entries = ['transactions'] } = search;
  const list = listOf(entries.includes('transactions') ? transactions : undefined, credits?.sql, page);
  // Rows from before there was a search are sorted in the background. Until then a search would miss them.
  const isUnsorted =
    places === undefined ? 'false' : `EXISTS (SELECT 1 FROM wallet_history WHERE ${own} AND kind IS NULL)`;
  const shown = 'block_number, tx_index, tx_hash, block_hash, block_time, tx, internal_calls, fits';
  const sql = `SELECT s.head_number, s.head_hash, s.head_time, ${isUnsorted} AS unsorted, ${shown},
      CASE WHEN fits THEN moves END AS moves, CASE WHEN fits THEN verdicts END AS verdicts
    FROM index_state s LEFT JOIN LATERAL (${measured(list, direction.order)}) r ON true
    WHERE s.chain_id = :chainId ORDER BY ${direction.order}`;
  const bindings = {
    chainId,
    wallet: bytes(wallet),
    limit,
    maxBytes: maxPageBytes,
    ...(after !== undefined && { block: String(after.blockNumber), index: after.index }),
    ...(fromBlock !== undefined && { fromBlock: String(fromBlock) }),
    ...(toBlock !== undefined && { toBlock: String(toBlock) }),
    ...places?.bindings,
    ...credits?.bindings,
  };
  return { sql, bindings };
}

// In responses they take some three times as much.
const maxPageBytes = 2 * 1024 * 1024;

/** Returns the list with whether each row, and all before it, fit into a page. The first row always does. */
function measured(list: string, order: string): string {
  const size = 'coalesce(octet_length(moves::text), 0) + coalesce(octet_length(verdicts::text), 0)';
  return `SELECT *, row_number() OVER rows_of_page = 1 OR sum(${size}) OVER rows_of_page <= :maxBytes AS fits
    FROM (${list}) list WINDOW rows_of_page AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)`;
}

const emptyList = `SELECT NULL::bigint AS block_number, 0 AS tx_index, NULL::bytea AS tx_hash, NULL::bytea AS block_hash,
  NULL::timestamptz AS block_time, NULL::json AS tx, NULL::json AS moves, NULL::integer AS internal_calls,
  NULL::json AS verdicts WHERE false`;

/** Returns one list of both, where both are asked for. */
function listOf(transactions: string | undefined, credits: string | undefined, page: string): string {
  if (credits === undefined) return transactions ?? emptyList;
  const order = page.slice(page.indexOf('ORDER BY'));
  const both = transactions === undefined ? credits : `(${transactions}) UNION ALL (${credits})`;
  return `SELECT * FROM (${both}) entries ${order}`;
}

/**
 * Returns the places of the rows that a search selects. Each of its kinds and facets is a range of one database
 * index, none longer than the page. Undefined where the search is a range of blocks alone.
 */
function placesOf(search: HistorySearch, page: string) {
  const kinds = kindsOf(search);
  const facets = wantedFacets(search);
  if (kinds === undefined && facets === undefined) return undefined;
  const eachKind = "unnest(string_to_array(:kinds, ',')::smallint[]) k (kind)";
  const ofKind = `SELECT block_number, tx_index FROM wallet_history WHERE ${own} AND kind = k.kind ${page}`;
  if (facets === undefined) {
    return {
      sql: `SELECT o.* FROM ${eachKind} CROSS JOIN LATERAL (${ofKind}) o`,
      bindings: { kinds: kinds?.join() },
    };
  }
  return {
    sql: `SELECT o.* FROM unnest(string_to_array(:facets, ',')::bytea[]) f (facet) CROSS JOIN ${eachKind}
      CROSS JOIN LATERAL (SELECT block_number, tx_index FROM history_facets
        WHERE ${own} AND facet = f.facet AND kind = k.kind ${page}) o`,
    bindings: {
      kinds: (kinds ?? allKinds).join(),
      facets: facets.join(),
    },
  };
}

/**
 * Returns the first of the wallet's blocks at or after a moment; the block after its last where there is none. A binary
 * search takes some thirty reads of the primary key. Where times of blocks go back, the caller leaves room for that.
 * @param withCredits whether blocks count in which the wallet has credits only
 */
export function blockAtQuery(chainId: string, wallet: string, moment: Date, withCredits = false) {
  const from = 'block_number >= (h.low + h.high) / 2 ORDER BY block_number LIMIT 1';
  const next = `SELECT block_number, block_time FROM wallet_history WHERE ${own} AND ${from}`;
  const nextCredit = `SELECT c.* FROM unnest(ARRAY[${Object.values(creditKinds).join()}]) k (kind)
    CROSS JOIN LATERAL (SELECT block_number, block_time FROM block_credits WHERE ${own} AND kind = k.kind AND ${from}) c`;
  const nearest = withCredits
    ? `SELECT * FROM ((${next}) UNION ALL (${nextCredit})) n ORDER BY block_number LIMIT 1`
    : next;
  const sql = `WITH RECURSIVE halves (low, high) AS (
      SELECT start_block, coalesce(head_number, start_block) + 1 FROM index_state WHERE chain_id = :chainId
      UNION ALL
      SELECT CASE WHEN r.block_time < :moment::timestamptz THEN r.block_number + 1 ELSE h.low END,
        CASE WHEN r.block_time < :moment::timestamptz THEN h.high ELSE (h.low + h.high) / 2 END
      FROM halves h LEFT JOIN LATERAL (${nearest}) r ON true
      WHERE h.low < h.high)
    SELECT max(low)::text AS block FROM halves`;
  return { sql, bindings: { chainId, wallet: bytes(wallet), moment } };
}
