import { stretchesSql } from './list-levels.ts';

/*
 * An RWA with many NFTs is counted by the time of their changes as all of a company are, in a list of its own (migration 0054).
 * Writers append to the list of the company only, and say of which RWA: whoever folds counts it in both.
 */

/** An RWA with more NFTs in one state gets its own list. As in the migration. */
export const manyOfRwa = 10_000;

/** The stretch that is an RWA: `list_splits` has those that are counted in a list of their own, or are to be. */
export const rwaStretch = { list: 'nfts', shift: 32 } as const;

/** The name of an RWA's own list. */
export const ownListOf = (rwaNumber: bigint): string => `nft_changes/${rwaNumber}`;

/** SQL of the same. */
export const ownListSql = (rwaNumber: string): string => `('nft_changes/' || ${rwaNumber})`;

/** SQL of the RWA whose own list it is, or null. */
export const ownerOfSql = (list: string): string => `nullif(split_part(${list}, '/', 2), '')::bigint`;

/** SQL of an RWA that is counted in its own list, to be joined with. */
export const isOwnSql = (company: string, rwaNumber: string, name: string): string => `
  ${name}.is_counted AND ${name}.company_id = ${company} AND ${name}.list = '${rwaStretch.list}'
  AND ${name}.shift = ${rwaStretch.shift} AND ${name}.bucket = ${rwaNumber}`;

/** SQL of what changes of a set of them count for in the own lists of their RWAs. */
export const ownTakenSql = (taken: string): string => `
  SELECT t.company_id, ${ownListSql('t.rwa_number')} AS list, t.facet, t.change, t.latest, t.earliest, s.shift, s.bucket
  FROM ${taken} t JOIN list_splits o ON ${isOwnSql('t.company_id', 't.rwa_number', 'o')}
    CROSS JOIN LATERAL ${stretchesSql('nft_changes', 't', ownListSql('t.rwa_number'))} AS s (shift, bucket)
  WHERE t.list = 'nft_changes'`;

/** SQL of those of some rows that count in the own lists of their RWAs, too, under its name. */
export const ownRowsSql = (rows: string): string => `
  SELECT ${ownListSql('r.rwa_number')}, r.company_id, r.rwa_number, r.place, r.rest, r.facet, r.n, r.latest, r.earliest, r.later,
    r.sooner
  FROM ${rows} r JOIN list_splits o ON ${isOwnSql('r.company_id', 'r.rwa_number', 'o')}`;
