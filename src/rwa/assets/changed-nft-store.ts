import type { Database } from '../../contract/transaction.ts';
import {
  type MarkedFacet,
  type MarkedRows,
  markedCompany,
  markedFacet,
  markedFrom,
  markValues,
  markValuesOf,
  pageOfMarkedSql,
} from '../../db/list-marks-store.ts';
import { fewSkipped, findMarked, walkOfMarkedSql } from '../../db/marked-counts-store.ts';
import { prepared } from '../../db/prepared.ts';
import { microsOf } from '../../db/time-counts.ts';
import { countedNfts, type NftFilter, type NftPlace, stretchOf } from './nft-counts.ts';
import { type Nft, type NftRow, nftColumns, toNft } from './nft-row.ts';
import { nftReasonSql } from './reason-sql.ts';

/*
 * NFTs that changed since a moment, as their companies see them: every query names the company.
 */

const [limit, offset, rwaNumber, serial] = [1, 2, 3, 4].map(
  (index) => `(SELECT $${markValues + index}::bigint)`,
);

// The last stretch of an RWA has all serials from its first on.
const inStretch = (states: MarkedFacet, place: string) => `
  company_id = ${markedCompany} AND rwa_number = ${place} >> 32 AND serial >= (${place} & 4294967295) << 8
  AND serial < CASE WHEN ${place} & 4294967295 < 4294967295 THEN ((${place} & 4294967295) + 1) << 8
    ELSE 9223372036854775807 END
  AND mint_state ${markedFacet[states]}`;

// The condition of the moment stands apart, or the server may read all that changed for each stretch.
const rowsOf = (states: MarkedFacet) => (place: string) =>
  `
  SELECT * FROM (
    SELECT ${nftColumns.join()}, mint_chain_id FROM nfts
    WHERE ${inStretch(states, place)} AND (rwa_number, serial) > (${rwaNumber}, ${serial})
    ORDER BY rwa_number, serial OFFSET 0) AS of_stretch
  WHERE updated_at >= ${markedFrom}`;

const countIn = (states: MarkedFacet) => (place: string) =>
  `
  SELECT count(*) FILTER (WHERE updated_at >= ${markedFrom}) FROM (
    SELECT updated_at FROM nfts WHERE ${inStretch(states, place)} OFFSET 0) AS of_stretch`;

const listSql = (states: MarkedFacet) => `
  SELECT n.*, ${nftReasonSql('n')} AS mint_reason
  FROM (${pageOfMarkedSql('nfts', states, rowsOf(states), `LIMIT ${limit} OFFSET ${offset}`)}) AS n
  ORDER BY rwa_number, serial`;

const statements = {
  one: ['list_changed_nfts_of_state', listSql('one')],
  some: ['list_changed_nfts', listSql('some')],
} as const;

const walks = {
  one: { name: 'walk_changed_nfts_of_state', sql: walkOfMarkedSql('nfts', 'one', countIn('one')) },
  some: { name: 'walk_changed_nfts', sql: walkOfMarkedSql('nfts', 'some', countIn('some')) },
} as const;

export type ChangedFilter = NftFilter & { readonly updatedSince: Date };

const markedNfts = (companyId: string, filter: ChangedFilter): MarkedRows => ({
  ...countedNfts(companyId, filter),
  span: { from: microsOf(filter.updatedSince) },
});

const kindOf = ({ facets }: MarkedRows): MarkedFacet => (facets.length === 1 ? 'one' : 'some');

type Page = { readonly limit: number; readonly offset: number; readonly after?: NftPlace | undefined };

/** A page of those of the company's NFTs that the filter selects, ordered by RWA, then serial. */
export async function listChangedNfts(
  db: Database,
  companyId: string,
  filter: ChangedFilter,
  { after, limit: most, offset: wanted }: Page,
): Promise<Nft[]> {
  const rows = markedNfts(companyId, filter);
  const kind = kindOf(rows);
  const start =
    wanted > fewSkipped
      ? await findMarked(db, walks[kind], rows, wanted)
      : { place: after && stretchOf(after), skipped: wanted };
  if (start === undefined) return [];
  const [name, sql] = statements[kind];
  const { rows: found } = await prepared<NftRow>(db, name, sql, [
    ...markValuesOf(rows, start.place),
    ...[most, start.skipped, String(after?.rwaNumber ?? 0), String(after?.serial ?? 0)],
  ]);
  return found.map(toNft);
}
