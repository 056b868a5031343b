import type { IndexedBlock } from '../../decode/domain.ts';
import type { BulkColumns } from './bulk-store.ts';

/** Rows that are collected as columns. */
export type Rows = { readonly columns: BulkColumns; add(...values: (string | null)[]): void };

/** @param types SQL types by the names of the columns, in the order of the values of a row */
export function columnsOf(types: Readonly<Record<string, string>>): Rows {
  const lists = Object.entries(types).map(([name, type]) => ({
    name,
    type,
    values: [] as (string | null)[],
  }));
  return {
    columns: Object.fromEntries(lists.map(({ name, type, values }) => [name, { type, values }])),
    add(...values) {
      let place = 0;
      for (const list of lists) list.values.push(values[place++] ?? null);
    },
  };
}

/** The time of a block as the database reads it. */
export function timeOf({ header }: Pick<IndexedBlock, 'header'>): string {
  return new Date(Number(header.timestamp) * 1_000).toISOString();
}
