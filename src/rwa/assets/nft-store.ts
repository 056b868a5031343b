import type { Knex } from 'knex';
import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { type KeyEntry, keyEntrySql, keyEntryValues } from '../../db/records/audit-store.ts';
import type { SealedSecret } from './claim-secret.ts';
import { type NftFilter, type NftPlace, statesOf } from './nft-filter.ts';
import { type Nft, type NftRow, nftColumns, sealedOf, toNft } from './nft-row.ts';
import { nftReasonSql } from './reason-sql.ts';
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
  { limit, after, ...page }: NftPage,
): Promise<Nft[]> {
  if (statesOf(filter).length === 0) return [];
  const place = ['company_id', 'rwa_number', 'serial'];
  // The indexes have what the order and the filters need, so rows that are skipped are not read.
  const places = matching(db, companyId, filter)
    .select(place)
    .orderBy(['rwa_number', 'serial'])
    .limit(limit)
    .offset('offset' in page ? page.offset : 0);
  // Next to an equal RWA, the index would not be entered by a pair.
  if (after !== undefined && filter.rwaNumber !== undefined)
    places.where('serial', '>', after.serial.toString());
  else if (after !== undefined)
    places.whereRaw('(rwa_number, serial) > (?, ?)', [after.rwaNumber.toString(), after.serial.toString()]);
  const rows: NftRow[] = await db
    .select([...nftColumns, 'mint_chain_id'].map((column) => `n.${column}`))
    .select(db.raw(`${nftReasonSql('n')} AS mint_reason`))
    .from(places.as('p'))
    .join(`${table} as n`, (on) => {
      for (const column of place) on.on(`n.${column}`, `p.${column}`);
    })
    .orderBy(['n.rwa_number', 'n.serial']);
  return rows.map(toNft);
}

/**
 * How many of the company's NFTs the filter selects. RWAs know how many they have and how many of them are minted; those on
 * their way are few, so they are counted, and the rest is unclaimed. NFTs that changed since a moment, or that a
 * wallet owns, are counted.
 */
export async function countNfts(db: Database, companyId: string, filter: NftFilter): Promise<number> {
  const states = statesOf(filter);
  if (states.length === 0) return 0;
  if (filter.updatedSince !== undefined || filter.owner !== undefined) {
    const [row]: { count: string }[] = await matching(db, companyId, filter).count();
    return Number(row?.count ?? 0);
  }
  const { rwaNumber = null } = filter;
  const { rows } = await prepared<Record<CountedState, string>>(
    db,
    `count_nfts${rwaNumber === null ? '' : '_of_rwa'}`,
    rwaNumber === null ? countSql.ofCompany : countSql.ofRwa,
    rwaNumber === null ? [companyId] : [companyId, rwaNumber.toString()],
  );
  const [counts] = rows;
  return states.reduce((sum, state) => sum + Number(counts?.[state] ?? 0), 0);
}

type CountedState = Nft['mintState'];

// One statement, so one moment.
const countSqlOf = (ofRwas: string, ofNfts: string) => `
  SELECT r.total - r.minted - n.queued - n.submitted - n.failed AS unclaimed, r.minted, n.queued, n.submitted, n.failed
  FROM (
    SELECT coalesce(sum(total_nfts), 0) AS total, coalesce(sum(claimed_nfts), 0) AS minted FROM rwas
    WHERE company_id = $1${ofRwas}) AS r, (
    SELECT count(*) FILTER (WHERE mint_state = 'queued') AS queued,
      count(*) FILTER (WHERE mint_state = 'submitted') AS submitted,
      count(*) FILTER (WHERE mint_state = 'failed') AS failed
    FROM ${table} WHERE company_id = $1${ofNfts} AND mint_state IN ('queued', 'submitted', 'failed')) AS n`;
const countSql = {
  ofCompany: countSqlOf('', ''),
  ofRwa: countSqlOf(' AND number = $2::bigint', ' AND rwa_number = $2::bigint'),
};

/** A new filter needs a line here, and its column in the indexes of the lists, so that neither totals nor offsets read rows. */
function matching(db: Database, companyId: string, filter: NftFilter): Knex.QueryBuilder {
  const query = db(table).where('company_id', companyId);
  if (filter.rwaNumber !== undefined) query.where('rwa_number', filter.rwaNumber.toString());
  if (filter.claimed === true) query.where('mint_state', 'minted');
  if (filter.claimed === false) query.whereNot('mint_state', 'minted');
  if (filter.mintState !== undefined) query.where('mint_state', filter.mintState);
  if (filter.owner !== undefined) query.where({ owner: filter.owner, mint_state: 'minted' });
  if (filter.updatedSince !== undefined) query.where('updated_at', '>=', filter.updatedSince);
  return query;
}

const rwaNames = detailColumns.map((column) => column.replace('r.', ''));
const findSql = `
  SELECT ${nftColumns.map((column) => `n.${column}`).join(', ')}, ${nftReasonSql('n')} AS mint_reason,
    ${rwaNames.map((name) => `r.${name} AS rwa_${name}`).join(', ')},
    coalesce(r.claim_base_url, c.claim_base_url) AS rwa_claim_base
  FROM ${table} n JOIN rwas r ON r.id = n.rwa_id AND r.company_id = n.company_id
    JOIN companies c ON c.id = r.company_id
  WHERE n.company_id = $1 AND n.id = $2`;
const told = keyEntrySql({
  from: 3,
  companyId: 'made.company_id',
  subject: 'made.id::text',
  details: `jsonb_build_object('count', 1, 'first', made.id, 'last', made.id)`,
});
const revealSql = `WITH made AS (${findSql}), told AS (${told}) SELECT * FROM made`;

/**
 * The company's NFT with its RWA, by one statement.
 * @param entry the audit entry of the secret that is shown of it; undefined where it is not shown
 * @returns undefined when the company has no such NFT
 */
export async function revealNft(
  db: Database,
  companyId: string,
  id: string,
  entry: KeyEntry | undefined,
): Promise<{ readonly nft: Nft; readonly rwa: RwaDetail } | undefined> {
  type Found = NftRow & { readonly [column: `rwa_${string}`]: unknown };
  const { rows } = await (entry === undefined
    ? prepared<Found>(db, 'find_nft', findSql, [companyId, id])
    : prepared<Found>(db, 'reveal_nft', revealSql, [companyId, id, ...keyEntryValues(entry)]));
  const [row] = rows;
  if (row === undefined) return undefined;
  const ofRwa = [...rwaNames, 'claim_base'].map((name) => [name, row[`rwa_${name}`]]);
  const rwaRow: RwaDetailRow = Object.fromEntries(ofRwa); // selected under these names
  return { nft: toNft(row), rwa: toRwaDetail(rwaRow) };
}

export type NftChange = Partial<Pick<Nft, 'data' | 'attributes' | 'imageUrl'>>;

/** Locks the company's NFT for a change, until the transaction ends. @returns undefined when the company has no such NFT */
export async function lockNft(
  tx: Tx,
  companyId: string,
  id: string,
): Promise<Pick<Nft, 'id' | 'data' | 'attributes' | 'imageUrl'> | undefined> {
  return tx(table)
    .where({ company_id: companyId, id })
    .forNoKeyUpdate()
    .first('id', 'data', 'attributes', { imageUrl: 'image_url' });
}

/** Stores new values of the company's NFT; null clears, an absent field stays. */
export async function changeNft(tx: Tx, companyId: string, id: string, change: NftChange): Promise<void> {
  const { data, attributes, imageUrl } = change;
  await tx(table)
    .where({ company_id: companyId, id })
    .update({
      ...(data !== undefined && { data }),
      // The driver would write an array as one of PostgreSQL.
      ...(attributes !== undefined && { attributes: attributes && JSON.stringify(attributes) }),
      ...(imageUrl !== undefined && { image_url: imageUrl }),
    });
}

/** Whether the company has this NFT. */
export async function hasNft(db: Database, companyId: string, id: string): Promise<boolean> {
  return (await db(table).where({ company_id: companyId, id }).first('id')) !== undefined;
}

/** Returns the ids that are NFTs of other companies, in lower case. */
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
