import type { Database } from '../../../contract/transaction.ts';
import type { Freshness } from '../../shared/provider.ts';
import { cleanKinds } from '../classify/kinds.ts';
import { bytes } from '../store/rows/bulk-store.ts';
import { freshnessOf, type HeadRow } from './history-store.ts';

/** The facets of a wallet's history find its tokens. A facet has the first bytes of a token. */
export type TokenRequest = {
  readonly chainId: string;
  readonly wallet: string;
  readonly limit: number;
  /** The facet after which the page begins, in hex; undefined for the first page. */
  readonly after: string | undefined;
};

/** A facet of the wallet's history. */
export type SeenToken = {
  readonly facet: string;
  /** The token contracts whose addresses begin with these bytes: one, unless somebody made others on purpose. */
  readonly contracts: readonly string[];
  /** Whether some of the wallet's records with the token are not spam. */
  readonly isClean: boolean;
};

type Row = HeadRow & {
  readonly unsorted: boolean;
  readonly facet: string | null;
  readonly clean: boolean;
  readonly contracts: string | null;
};

const own = 'chain_id = :chainId AND wallet = :wallet::bytea';
// Facets of tokens begin with 2, facets of counterparties with 1 and facets of both with 3.
const next = (after: string) =>
  `SELECT facet FROM history_facets WHERE ${own} AND facet > ${after} AND facet < '\\x03' ORDER BY facet LIMIT 1`;

// Addresses that begin with a facet. A record has them whole, but also everything that it moves, which may be
// megabytes.
const named = `SELECT string_agg('0x' || encode(n.contract, 'hex'), ',') FROM (SELECT contract FROM token_contracts
    WHERE chain_id = :chainId AND contract BETWEEN substr(f.facet, 2) AND substr(f.facet, 2) || decode(repeat('ff', 10), 'hex')
    ORDER BY contract LIMIT 8) n`;

/**
 * The statement of a page, without the code that runs it. It jumps from facet to facet, however many rows each has.
 */
export function tokenQuery({ chainId, wallet, limit, after = '02' }: TokenRequest) {
  const sql = `WITH RECURSIVE found (facet, place) AS (
      (SELECT o.facet, 1 FROM (${next(':after::bytea')}) o)
      UNION ALL
      SELECT o.facet, f.place + 1 FROM found f CROSS JOIN LATERAL (${next('f.facet')}) o WHERE f.place < :limit)
    SELECT s.head_number, s.head_hash, s.head_time, t.*,
      EXISTS (SELECT 1 FROM wallet_history WHERE ${own} AND kind IS NULL) AS unsorted
    FROM index_state s LEFT JOIN LATERAL (
      SELECT encode(f.facet, 'hex') AS facet, (${named}) AS contracts,
        EXISTS (SELECT 1 FROM unnest(string_to_array(:kinds, ',')::smallint[]) k (kind)
          CROSS JOIN LATERAL (SELECT 1 FROM history_facets WHERE ${own} AND facet = f.facet AND kind = k.kind LIMIT 1) c
        ) AS clean
      FROM found f) t ON true
    WHERE s.chain_id = :chainId ORDER BY t.facet`;
  return {
    sql,
    bindings: { chainId, wallet: bytes(wallet), limit, after: `\\x${after}`, kinds: cleanKinds.join() },
  };
}

/**
 * Lists the contracts of tokens in the order of their addresses, also the contracts of NFTs.
 * @returns undefined when the network has no indexed block, or when rows are not sorted yet
 */
export async function listSeenTokens(
  db: Database,
  request: TokenRequest,
): Promise<{ readonly tokens: readonly SeenToken[]; readonly completeTo: Freshness } | undefined> {
  const { sql, bindings } = tokenQuery(request);
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings);
  const completeTo = freshnessOf(rows[0]);
  if (completeTo === undefined || rows[0]?.unsorted === true) return undefined;
  return {
    completeTo,
    tokens: rows.flatMap((row) => (row.facet === null ? [] : [toSeen(row, row.facet)])),
  };
}

const toSeen = ({ clean, contracts }: Row, facet: string): SeenToken => ({
  facet,
  contracts: contracts?.split(',') ?? [],
  isClean: clean,
});
