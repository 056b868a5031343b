import type { Knex } from 'knex';
import type { Database } from '../../contract/transaction.ts';
import { type KeyEntry, keyEntrySql, keyEntryValues } from '../../db/audit-store.ts';
import { countRows, findOffset } from '../../db/list-counts-store.ts';
import { countBeforeSql, countedCompany, countedFacets, countedRwa } from '../../db/moment-counts-store.ts';
import { momentOf } from '../../db/moment-sql.ts';
import { hasOwnList } from '../../db/own-lists-store.ts';
import { prepared } from '../../db/prepared.ts';
import { countSpan, microsOf } from '../../db/time-counts.ts';
import { type ChangedFilter, listChangedNfts } from './changed-nft-store.ts';
import type { SealedSecret } from './claim-secret.ts';
import { stateOfRow } from './mint-state-sql.ts';
import {
  canMatch,
  countedChanges,
  countedNfts,
  firstOfStretch,
  type NftFilter,
  type NftPlace,
} from './nft-counts.ts';
import { type Nft, type NftRow, nftColumns, sealedOf, toNft } from './nft-row.ts';
import { nftReasonSql, reasonOfOneSql } from './reason-sql.ts';
import { detailColumns, type RwaDetail, type RwaDetailRow, toRwaDetail } from './rwa-row.ts';

/*
 * NFTs as their companies see them: every query names the company.
 */

const table = 'nfts';

/** Where a page begins: behind an NFT, or after a number of them. */
export type NftStart = { readonly after: NftPlace } | { readonly offset: number; readonly after?: undefined };

export type NftPage = { readonly limit: number } & NftStart;

/** A page of the company's NFTs that the filter selects, ordered by RWA, then serial. */
export async function listNfts(
  db: Database,
  companyId: string,
  filter: NftFilter,
  page: NftPage,
): Promise<Nft[]> {
  if (!canMatch(filter)) return [];
  const { updatedSince } = filter;
  if (updatedSince !== undefined)
    return listChangedNfts(db, companyId, { ...filter, updatedSince }, { offset: 0, ...page });
  const start = await startOf(db, companyId, filter, page);
  if (start === undefined) return [];
  const query = matching(db, companyId, filter)
    .select([...nftColumns, 'mint_chain_id'])
    .orderBy(['rwa_number', 'serial'])
    .limit(page.limit)
    .offset(start.skipped);
  const { rwaNumber, serial = 0n } = start.from ?? {};
  // Beside an equal RWA, the index would not be entered by a pair.
  if (filter.rwaNumber !== undefined) query.where('serial', '>=', serial.toString());
  else if (rwaNumber !== undefined)
    query.whereRaw('(rwa_number, serial) >= (?, ?)', [rwaNumber.toString(), serial.toString()]);
  return selectWithReason(db, query);
}

type Start = { readonly from?: NftPlace; readonly skipped: number };

/** Where to begin to read, so that next to nothing is skipped; undefined past the end. */
async function startOf(
  db: Database,
  companyId: string,
  filter: NftFilter,
  { after, ...page }: NftPage,
): Promise<Start | undefined> {
  if (after) return { from: { ...after, serial: after.serial + 1n }, skipped: 0 };
  const skipped = 'offset' in page ? page.offset : 0;
  if (skipped === 0) return { skipped };
  const found = await findOffset(db, countedNfts(companyId, filter), skipped);
  return found && { from: firstOfStretch(found.bucket), skipped: found.skipped };
}

/** Adds the reasons outside of the page, so that rows which its offset skips cost nothing; its order stays. */
async function selectWithReason(db: Database, page: Knex.QueryBuilder): Promise<Nft[]> {
  const rows: NftRow[] = await db
    .select('n.*')
    .select(db.raw(`${nftReasonSql('n')} AS mint_reason`))
    .from(page.as('n'));
  return rows.map(toNft);
}

/** How many of the company's NFTs the filter selects. */
export async function countNfts(
  db: Database,
  companyId: string,
  { updatedSince, ...filter }: NftFilter,
): Promise<number> {
  if (!canMatch(filter)) return 0;
  if (updatedSince === undefined) return countRows(db, countedNfts(companyId, filter));
  return countChanged(db, companyId, { ...filter, updatedSince });
}

// An index by state would be of all moments.
const changedBetween = (from: string, until: string) => `
  SELECT count(*) FROM ${table} WHERE company_id = ${countedCompany} AND ${stateOfRow(table)} = ANY ${countedFacets}
    AND updated_at >= ${momentOf(from)} AND updated_at < ${momentOf(until)}`;
const changesBefore = {
  ofCompany: { name: 'count_changes_before', sql: countBeforeSql('nft_changes', changedBetween) },
  ofRwa: {
    name: 'count_changes_of_rwa_before',
    // The index of moments is to be entered, not that of the RWA's NFTs, which may be millions.
    sql: countBeforeSql('own', (...span) => `${changedBetween(...span)} AND rwa_number + 0 = ${countedRwa}`),
  },
};

async function countChanged(db: Database, companyId: string, filter: ChangedFilter): Promise<number> {
  const { rwaNumber, updatedSince } = filter;
  if (rwaNumber !== undefined && !(await hasOwnList(db, companyId, rwaNumber)))
    return countOneByOne(matching(db, companyId, filter).where('updated_at', '>=', updatedSince));
  const before = rwaNumber === undefined ? changesBefore.ofCompany : changesBefore.ofRwa;
  return countSpan(db, countedChanges(companyId, filter), { from: microsOf(updatedSince) }, before);
}

async function countOneByOne(query: Knex.QueryBuilder): Promise<number> {
  const rows: { count: string }[] = await query.count();
  return Number(rows[0]?.count ?? 0);
}

function matching(db: Database, companyId: string, filter: NftFilter): Knex.QueryBuilder {
  const query = db(table).where('company_id', companyId);
  if (filter.rwaNumber !== undefined) query.where('rwa_number', filter.rwaNumber.toString());
  if (filter.claimed === true) query.where('mint_state', 'minted');
  // Written out, not bound: the planner takes the partial index only when it sees its condition.
  if (filter.claimed === false) query.whereRaw("mint_state <> 'minted'");
  if (filter.mintState !== undefined) query.where('mint_state', filter.mintState);
  return query;
}

const rwaNames = detailColumns.map((column) => column.replace('r.', ''));
const findSql = `
  SELECT ${nftColumns.map((column) => `n.${column}`).join(', ')}, ${reasonOfOneSql('n')} AS mint_reason,
    ${rwaNames.map((name) => `r.${name} AS rwa_${name}`).join(', ')},
    coalesce(r.claim_base_url, c.claim_base_url) AS rwa_claim_base_url
  FROM ${table} n JOIN rwas r ON r.id = n.rwa_id AND r.company_id = n.company_id
    JOIN companies c ON c.id = r.company_id
  WHERE n.company_id = $1 AND n.id = $2`;
const told = keyEntrySql({
  ...{ from: 3, companyId: 'made.company_id', subject: 'made.id::text' },
  details: `jsonb_build_object('count', 1, 'first', made.id, 'last', made.id)`,
});
const revealSql = `WITH made AS (${findSql}), told AS (${told}) SELECT * FROM made`;

/**
 * The company's NFT with its RWA, by one statement.
 * @param entry the audit entry of the secret that is shown of it
 * @returns undefined when the company has no such NFT
 */
export async function revealNft(
  db: Database,
  companyId: string,
  id: string,
  entry: KeyEntry,
): Promise<{ readonly nft: Nft; readonly rwa: RwaDetail } | undefined> {
  type Found = NftRow & { readonly [column: `rwa_${string}`]: unknown };
  const values = [companyId, id, ...keyEntryValues(entry)];
  const { rows } = await prepared<Found>(db, 'reveal_nft', revealSql, values);
  const [row] = rows;
  if (row === undefined) return undefined;
  const ofRwa = [...rwaNames, 'claim_base_url'].map((name) => [name, row[`rwa_${name}`]]);
  const rwaRow: RwaDetailRow = Object.fromEntries(ofRwa); // selected under these names
  return { nft: toNft(row), rwa: toRwaDetail(rwaRow) };
}

/** Those of the ids that are NFTs of companies other than this one, in lower case. */
export async function findForeignNfts(
  db: Database,
  companyId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows: { id: string }[] = await db(table)
    .select('id')
    .whereRaw('id = ANY (?::uuid[])', [[...ids]])
    .whereNot('company_id', companyId);
  return new Set(rows.map(({ id }) => id));
}

/** The sealed secrets of the company's NFTs, by id. */
export async function findSealedSecrets(
  db: Database,
  companyId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SealedSecret>> {
  const rows: Pick<NftRow, 'id' | 'secret_cipher' | 'secret_key_id'>[] = await db(table)
    .select('id', 'secret_cipher', 'secret_key_id')
    // No index of companies may help to find them: of a large one, it has millions.
    .whereRaw("company_id || '' = ? AND id = ANY (?::uuid[])", [companyId, [...ids]]);
  return new Map(rows.map((row) => [row.id, sealedOf(row)]));
}
