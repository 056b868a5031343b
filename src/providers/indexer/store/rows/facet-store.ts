import type { Database, Tx } from '../../../../contract/transaction.ts';
import { facetsOf } from '../../classify/facets.ts';
import type { DescribedRow } from '../../classify/rules.ts';
import { sortRow } from '../../classify/sort-row.ts';
import { readMoves, readTransaction } from '../../classify/stored-moves.ts';
import { type BulkColumns, bytes, hex, insertBulk } from './bulk-store.ts';
import { columnsOf } from './row-columns.ts';

/** The entries by which searches find rows of histories. Each follows from its row. */
const table = 'history_facets';

export type FacetRow = {
  readonly wallet: Buffer;
  readonly block_number: string;
  readonly tx_index: number;
  readonly kind: number | null;
  readonly tx: unknown;
  readonly moves: unknown;
  readonly verdicts: unknown;
};

export const facetRowColumns = 'wallet, block_number, tx_index, kind, tx, moves, verdicts';
const rowsAtOnce = 1_000;

export function toDescribed({ wallet, tx, moves, verdicts }: FacetRow): DescribedRow {
  const address = hex(wallet);
  return { wallet: address, transaction: readTransaction(tx), moves: readMoves(moves, address, verdicts) };
}

/** The row of facets: its wallet as PostgreSQL reads bytes, and its place. */
type FacetKey = { readonly wallet: string; readonly place: readonly [block: string, index: string] };

/** Facets of rows, as the columns of the table. */
export function facetColumns() {
  const rows = columnsOf({
    wallet: 'bytea',
    facet: 'bytea',
    kind: 'smallint',
    block_number: 'bigint',
    tx_index: 'integer',
  });
  return {
    columns: rows.columns,
    add({ wallet, place }: FacetKey, facets: ReadonlyMap<string, number>) {
      for (const [facet, kind] of facets) rows.add(wallet, facet, String(kind), ...place);
    },
  };
}

/** Sorts some rows that were written before there was a search. @returns whether there may be more */
export async function sortRows(db: Database, chainId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rows } = await tx.raw<{ rows: FacetRow[] }>(
      `SELECT ${facetRowColumns} FROM wallet_history WHERE chain_id = ? AND kind IS NULL LIMIT ?`,
      [chainId, rowsAtOnce],
    );
    if (rows.length === 0) return false;
    const facets = facetColumns();
    const sorted = rows.map((row) => {
      const { kind, facets: found } = sortRow(toDescribed(row));
      const wallet = bytes(hex(row.wallet));
      facets.add({ wallet, place: [row.block_number, String(row.tx_index)] }, found);
      return { wallet, block_number: row.block_number, tx_index: row.tx_index, kind };
    });
    await tx.raw(
      `UPDATE wallet_history h SET kind = r.kind
       FROM json_to_recordset(?) AS r (wallet bytea, block_number bigint, tx_index integer, kind smallint)
       WHERE h.chain_id = ? AND h.wallet = r.wallet AND h.block_number = r.block_number AND h.tx_index = r.tx_index`,
      [JSON.stringify(sorted), chainId],
    );
    await insertBulk(tx, table, chainId, facets.columns);
    return rows.length === rowsAtOnce;
  });
}

/**
 * Deletes the facets of the rows above a block, by their keys: a wallet's facets are not in the order of blocks. The
 * rows must still exist.
 * @param condition of the rows in `wallet_history`
 */
export async function deleteFacets(
  tx: Tx,
  chainId: string,
  condition: { readonly sql: string; readonly bindings: Readonly<Record<string, string>> },
): Promise<void> {
  const { rows } = await tx.raw<{ rows: FacetRow[] }>(
    `SELECT ${facetRowColumns} FROM wallet_history ${condition.sql} AND kind IS NOT NULL`,
    condition.bindings,
  );
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const facets = facetColumns();
    for (const row of rows.slice(start, start + rowsAtOnce)) {
      const place = [row.block_number, String(row.tx_index)] as const;
      facets.add({ wallet: bytes(hex(row.wallet)), place }, facetsOf(toDescribed(row), row.kind ?? 0));
    }
    await deleteListed(tx, chainId, facets.columns);
  }
}

async function deleteListed(tx: Tx, chainId: string, columns: BulkColumns): Promise<void> {
  await tx.raw(
    `DELETE FROM ${table} f USING ${listed} WHERE f.chain_id = ? AND f.wallet = u.wallet AND f.facet = u.facet
       AND f.kind = u.kind AND f.block_number = u.block_number AND f.tx_index = u.tx_index`,
    [...listOf(columns), chainId],
  );
}

/** Gives rows whose kind changed the facets of their new kind. Rows without a kind have no facets. */
export async function moveFacets(
  tx: Tx,
  chainId: string,
  rows: readonly (FacetRow & { readonly newKind: number })[],
): Promise<void> {
  const before = facetColumns();
  const after = facetColumns();
  for (const row of rows) {
    const { kind, newKind } = row;
    if (kind === null || kind === newKind) continue;
    const key = { wallet: bytes(hex(row.wallet)), place: [row.block_number, String(row.tx_index)] } as const;
    before.add(key, facetsOf(toDescribed(row), kind));
    after.add(key, facetsOf(toDescribed(row), newKind));
  }
  if (before.columns['wallet']?.values.length === 0) return;
  await deleteListed(tx, chainId, before.columns);
  await insertBulk(tx, table, chainId, after.columns);
}

const listed = `unnest(string_to_array(?, ',')::bytea[], string_to_array(?, ',')::bytea[],
    string_to_array(?, ',')::smallint[], string_to_array(?, ',')::bigint[], string_to_array(?, ',')::integer[])
  AS u (wallet, facet, kind, block_number, tx_index)`;

const listOf = (columns: BulkColumns) =>
  ['wallet', 'facet', 'kind', 'block_number', 'tx_index'].map(
    (name) => columns[name]?.values.join(',') ?? '',
  );
