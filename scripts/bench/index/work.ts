import { availableParallelism } from 'node:os';
import Table from 'cli-table3';
import { rounded } from '../suite.ts';

/** Milliseconds of a core for each block, of all processes that take part. */
export type Work = {
  readonly downloading: { readonly node: number; readonly reader: number };
  readonly indexing: { readonly node: number; readonly indexer: number; readonly postgres: number };
  /** Of the same rows, from a file into empty tables with the same indexes. */
  readonly copy: number;
  /** JSON.parse of the same answers. */
  readonly parse: number;
};

/**
 * Downloading to the least that any index takes which asks this node, parses its answers in JavaScript, and stores these
 * rows in these tables: what downloading takes of the cores, with parsing and a bare COPY. Nothing is in it for decoding, for
 * making rows, for waiting. Above 1 the cores had other work while it downloaded.
 * @param downloadMs for a block
 */
export function mostReachable(downloadMs: number, { downloading, copy, parse }: Work): number {
  const least = (downloading.node + downloading.reader + parse + copy) / availableParallelism();
  return rounded(downloadMs / least);
}

/** Each divided by the number of blocks. */
export function perBlock({ downloading, indexing, copy, parse }: Work, blocks: number): Work {
  const share = (ms: number) => rounded(ms / blocks);
  return {
    downloading: { node: share(downloading.node), reader: share(downloading.reader) },
    indexing: {
      node: share(indexing.node),
      indexer: share(indexing.indexer),
      postgres: share(indexing.postgres),
    },
    copy: share(copy),
    parse: share(parse),
  };
}

export function workTable(works: Readonly<Record<string, Work>>): string {
  const head = ['CPU ms for a block', 'Node', 'Reader or indexer', 'PostgreSQL', 'JSON.parse', 'Bare COPY'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const [name, { downloading, indexing, copy, parse }] of Object.entries(works)) {
    table.push([`downloading ${name}`, downloading.node, downloading.reader, '', '', '']);
    table.push([`indexing ${name}`, indexing.node, indexing.indexer, indexing.postgres, '', '']);
    table.push([`the least for ${name}`, downloading.node, downloading.reader, '', parse, copy]);
  }
  return table.toString();
}

/** In words, for the table of all suites. */
export const workNote = ({ downloading, indexing, copy, parse }: Work): string =>
  [
    `CPU ms for a block: downloading, node ${downloading.node} and reader ${downloading.reader}`,
    `indexing, node ${indexing.node}, indexer ${indexing.indexer} and PostgreSQL ${indexing.postgres}`,
    `bare COPY ${copy}`,
    `JSON.parse ${parse}`,
  ].join('; ');
