import type { Database } from '../../contract/transaction.ts';
import {
  markedCompany,
  markedFacet,
  markedFrom,
  markValues,
  markValuesOf,
  pageOfMarkedSql,
} from '../../db/list-marks-store.ts';
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

// The condition of the moment stands apart, or the server may read all that changed for each stretch. The last stretch of
// an RWA has all serials from its first on.
const rowsOf = (states: keyof typeof markedFacet) => (place: string) =>
  `
  SELECT * FROM (
    SELECT ${nftColumns.join()}, mint_chain_id FROM nfts
    WHERE company_id = ${markedCompany} AND rwa_number = ${place} >> 32 AND serial >= (${place} & 4294967295) << 8
      AND serial < CASE WHEN ${place} & 4294967295 < 4294967295 THEN ((${place} & 4294967295) + 1) << 8
        ELSE 9223372036854775807 END
      AND mint_state ${markedFacet[states]} AND (rwa_number, serial) > (${rwaNumber}, ${serial})
    ORDER BY rwa_number, serial OFFSET 0) AS of_stretch
  WHERE updated_at >= ${markedFrom}`;

const listSql = (states: keyof typeof markedFacet) => `
  SELECT n.*, ${nftReasonSql('n')} AS mint_reason
  FROM (${pageOfMarkedSql('nfts', states, rowsOf(states), `LIMIT ${limit} OFFSET ${offset}`)}) AS n
  ORDER BY rwa_number, serial`;

const statements = {
  one: ['list_changed_nfts_of_state', listSql('one')],
  some: ['list_changed_nfts', listSql('some')],
} as const;

type Page = { readonly limit: number; readonly offset: number; readonly after?: NftPlace | undefined };

/** A page of those of the company's NFTs that the filter selects, ordered by RWA, then serial. */
export async function listChangedNfts(
  db: Database,
  companyId: string,
  filter: NftFilter & { readonly updatedSince: Date },
  { after, ...page }: Page,
): Promise<Nft[]> {
  const rows = { ...countedNfts(companyId, filter), span: { from: microsOf(filter.updatedSince) } };
  const [name, sql] = statements[rows.facets.length === 1 ? 'one' : 'some'];
  const { rows: found } = await prepared<NftRow>(db, name, sql, [
    ...markValuesOf(rows, after && stretchOf(after)),
    ...[page.limit, page.offset, String(after?.rwaNumber ?? 0), String(after?.serial ?? 0)],
  ]);
  return found.map(toNft);
}
