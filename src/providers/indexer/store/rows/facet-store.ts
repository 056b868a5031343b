import type { Database, Tx } from '../../../../contract/transaction.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { facetsOf } from '../../classify/facets.ts';
import type { DescribedRow } from '../../classify/rules.ts';
import { sortRow } from '../../classify/sort-row.ts';
import { readMoves, readTransaction } from '../../classify/stored-moves.ts';
import { bytes, hex, insertBulk, type Row, rowsTable } from './bulk-store.ts';

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

/** Returns the entries of a row. */
function entriesOf({ wallet, block_number, tx_index }: FacetRow, facets: ReadonlyMap<string, number>): Row[] {
  return [...facets].map(([facet, kind]) => ({
    wallet: bytes(hex(wallet)),
    facet,
    kind,
    block_number,
    tx_index,
  }));
}

/** Sorts some rows that were written before there was a search. @returns whether there may be more */
export async function sortRows(db: Database, chainId: string): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.raw<{ rows: FacetRow[] }>(
      `SELECT ${facetRowColumns} FROM wallet_history WHERE chain_id = ? AND kind IS NULL LIMIT ?`,
      [chainId, rowsAtOnce],
    );
    if (rows.length === 0) return false;
    const sorted = rows.map((row) => ({ row, ...sortRow(toDescribed(row)) }));
    const kinds = sorted.map(({ row: { wallet, block_number, tx_index }, kind }) => ({
      wallet: bytes(hex(wallet)),
      block_number,
      tx_index,
      kind,
    }));
    const { sql, bindings } = rowsTable('r', ['wallet', 'block_number', 'tx_index', 'kind'], kinds);
    await tx.raw(
      `UPDATE wallet_history h SET kind = r.kind FROM ${sql}
       WHERE h.chain_id = :chainId AND h.wallet = r.wallet AND h.block_number = r.block_number
         AND h.tx_index = r.tx_index`,
      { chainId, ...bindings },
    );
    await insertBulk(
      tx,
      table,
      chainId,
      sorted.flatMap(({ row, facets }) => entriesOf(row, facets)),
    );
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
    const some = rows.slice(start, start + rowsAtOnce);
    await deleteEntries(
      tx,
      chainId,
      some.flatMap((row) => entriesOf(row, facetsOf(toDescribed(row), row.kind ?? 0))),
    );
  }
}

async function deleteEntries(tx: Tx, chainId: string, entries: readonly Row[]): Promise<void> {
  const { sql, bindings } = rowsTable('u', ['wallet', 'facet', 'kind', 'block_number', 'tx_index'], entries);
  await tx.raw(
    `DELETE FROM ${table} f USING ${sql} WHERE f.chain_id = :chainId AND f.wallet = u.wallet AND f.facet = u.facet
       AND f.kind = u.kind AND f.block_number = u.block_number AND f.tx_index = u.tx_index`,
    { chainId, ...bindings },
  );
}

/** Gives rows whose kind changed the facets of their new kind. Rows without a kind have no facets. */
export async function moveFacets(
  tx: Tx,
  chainId: string,
  rows: readonly (FacetRow & { readonly newKind: number })[],
): Promise<void> {
  const moved = rows.filter(({ kind, newKind }) => kind !== null && kind !== newKind);
  if (moved.length === 0) return;
  const entries = (kindOf: (row: (typeof moved)[number]) => number) =>
    moved.flatMap((row) => entriesOf(row, facetsOf(toDescribed(row), kindOf(row))));
  await deleteEntries(
    tx,
    chainId,
    entries(({ kind }) => kind ?? 0),
  );
  await insertBulk(
    tx,
    table,
    chainId,
    entries(({ newKind }) => newKind),
  );
}
