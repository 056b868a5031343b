import type { HistoryFilter } from '../../shared/provider.ts';
import { creditKinds } from '../store/rows/ledger-rows.ts';

/** Credits come after the transactions of their block: their indexes in a history begin here. */
const firstCreditIndex = 900_000_000;

type CreditSearch = Pick<
  HistoryFilter,
  'entries' | 'category' | 'direction' | 'token' | 'counterparty' | 'fromBlock' | 'toBlock'
>;

/** The kinds of credits that the search selects. Credits are left out unless the caller asks for them. */
function kindsOf(search: CreditSearch): readonly number[] {
  const { entries = [], category, direction, token, counterparty } = search;
  // Credits have no token and no counterparty, and are always incoming.
  if (category !== undefined || token !== undefined || counterparty !== undefined) return [];
  if (direction === 'send') return [];
  const { withdrawal, fees, block, uncle } = creditKinds;
  return [
    ...(entries.includes('withdrawals') ? [withdrawal] : []),
    ...(entries.includes('rewards') ? [fees, block, uncle] : []),
  ];
}

type PageOrder = { readonly comparison: '<' | '>'; readonly order: string };

type CreditPage = {
  readonly search: CreditSearch;
  readonly direction: PageOrder;
  /** Where the page begins, exclusive, as an index in the history. */
  readonly afterIndex: number | undefined;
};

/**
 * Returns the credits of a page, with the columns of a history: of each kind one range of the primary key, none
 * longer than the page. Undefined where the search selects none.
 */
export function creditRows({ search, direction, afterIndex }: CreditPage) {
  const kinds = kindsOf(search);
  if (kinds.length === 0) return undefined;
  const { comparison, order } = direction;
  const range = [
    ...(afterIndex === undefined ? [] : [`(block_number, place) ${comparison} (:block, :place)`]),
    ...(search.fromBlock === undefined ? [] : ['block_number >= :fromBlock']),
    ...(search.toBlock === undefined ? [] : ['block_number <= :toBlock']),
  ]
    .map((condition) => `AND ${condition}`)
    .join(' ');
  const sorted = order.replaceAll('tx_index', 'place');
  const sql = `SELECT o.* FROM unnest(string_to_array(:creditKinds, ',')::smallint[]) k (kind)
    CROSS JOIN LATERAL (SELECT block_number, place + ${firstCreditIndex} AS tx_index, NULL::bytea AS tx_hash, block_hash,
        block_time, json_build_array(kind, amount::text, validator_index::text, withdrawal_index::text) AS tx,
        NULL::json AS moves, NULL::integer AS internal_calls, NULL::json AS verdicts
      FROM block_credits WHERE chain_id = :chainId AND wallet = :wallet::bytea AND kind = k.kind ${range}
      ORDER BY ${sorted} LIMIT :limit) o`;
  return {
    sql,
    bindings: {
      creditKinds: kinds.join(),
      ...(afterIndex !== undefined && { place: placeOf(afterIndex, comparison) }),
    },
  };
}

/** Compared with a transaction's index all credits of its block come later. */
function placeOf(index: number, comparison: '<' | '>'): number {
  if (index >= firstCreditIndex) return index - firstCreditIndex;
  return comparison === '>' ? -1 : 0;
}
