import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { type KeyEntry, keyEntrySql, keyEntryValues } from '../../db/records/audit-store.ts';
import type { SealedSecret } from './claim-secret.ts';
import { type Nft, type NftRow, nftColumns, toNft } from './nft-row.ts';
import { newTokenPart, tokenIdSql } from './token-id.ts';

/*
 * Creates NFTs: the only place that assigns serials and token ids and counts the NFTs of an RWA.
 */

export type NewNft = {
  readonly id: string;
  readonly companyId: string;
  readonly rwaId: string;
  readonly sealed: SealedSecret;
  readonly data?: object | undefined;
  /** Set when the mint is accepted together with the creation: the NFT starts as `queued` instead of `unclaimed`. */
  readonly mint?: {
    /** Decimal. */
    readonly chainId: string;
    /** EIP-55. */
    readonly recipient: string;
  };
};

// Rows of RWAs are locked in one order, so that no two transactions deadlock.
const insert = `
  WITH w AS (
    SELECT *, row_number() OVER (PARTITION BY rwa_id ORDER BY place) AS step
    FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::bytea[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[])
      WITH ORDINALITY AS w (id, company_id, rwa_id, cipher, key_id, recipient, chain_id, data, token_part, place)),
  wanted AS (SELECT company_id, rwa_id, count(*) AS count FROM w GROUP BY company_id, rwa_id),
  locked AS (
    SELECT r.id, wanted.count FROM rwas r JOIN wanted ON r.company_id = wanted.company_id AND r.id = wanted.rwa_id
    ORDER BY r.id FOR NO KEY UPDATE OF r),
  taken AS (
    UPDATE rwas r SET last_serial = r.last_serial + l.count, total_nfts = r.total_nfts + l.count
    FROM locked l WHERE r.id = l.id RETURNING r.id, r.company_id, r.number, r.contract_address,
      r.last_serial - l.count AS last)
  INSERT INTO nfts (id, company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id,
    mint_state, recipient, mint_chain_id, mint_contract, data, queued_at)
  SELECT w.id, t.company_id, t.id, t.number, t.last + w.step, ${tokenIdSql('t.number', 'w.token_part')}, w.cipher,
    w.key_id, CASE WHEN w.recipient IS NULL THEN 'unclaimed' ELSE 'queued' END, w.recipient, w.chain_id,
    CASE WHEN w.recipient IS NOT NULL THEN t.contract_address END, w.data::jsonb,
    CASE WHEN w.recipient IS NOT NULL THEN clock_timestamp() END
  FROM w JOIN taken t ON t.id = w.rwa_id AND t.company_id = w.company_id RETURNING ${nftColumns.join(', ')}`;

/**
 * Inserts NFTs with the next serials of their RWAs, in the order given, and counts them. The rows of the RWAs stay
 * locked until the transaction ends, so a rollback gives the serials back and leaves no gap.
 * @returns the NFTs by id, without those whose company has no such RWA
 */
export async function insertNfts(tx: Tx, nfts: readonly NewNft[]): Promise<ReadonlyMap<string, Nft>> {
  if (nfts.length === 0) return new Map();
  const { rows } = await prepared<NftRow>(tx, 'insert_nfts', insert, [
    nfts.map(({ id }) => id),
    nfts.map(({ companyId }) => companyId),
    nfts.map(({ rwaId }) => rwaId),
    nfts.map(({ sealed }) => sealed.cipher),
    nfts.map(({ sealed }) => sealed.keyId),
    nfts.map(({ mint }) => mint?.recipient ?? null),
    nfts.map(({ mint }) => mint?.chainId ?? null),
    nfts.map(({ data }) => (data ? JSON.stringify(data) : null)),
    nfts.map(() => newTokenPart().toString()),
  ]);
  return new Map(rows.map((row) => [row.id, toNft(row)]));
}

/** NFTs of one RWA, with nothing to mint. */
export type NewSeries = {
  readonly companyId: string;
  readonly rwaId: string;
  readonly ids: readonly string[];
  readonly ciphers: readonly Buffer[];
  /** The lower parts of their token ids. */
  readonly tokenParts: readonly bigint[];
  /** Of the key that seals all secrets. */
  readonly keyId: string;
};

/** The numbers of a series. Its serials are `first` and the serials that follow, in the order of its ids. */
export type Series = {
  readonly rwaId: string;
  readonly rwaNumber: bigint;
  readonly first: bigint;
  readonly createdAt: Date;
  /** The RWA's own claim page, else its company's, else null. */
  readonly claimBaseUrl: string | null;
};

type SeriesRow = {
  id: string;
  number: string;
  first: string;
  created_at: Date;
  claim_base_url: string | null;
};

const ids = '($3::uuid[])';
const count = `cardinality(${ids})`;

// The statement does not send back values that are known before, or that follow from the first serial.
const seriesParts = `
  made AS (
    UPDATE rwas SET last_serial = last_serial + ${count}, total_nfts = total_nfts + ${count}
    WHERE company_id = $1 AND id = $2
    RETURNING id, company_id, number, last_serial - ${count} AS last, claim_base_url),
  issued AS (
    INSERT INTO nfts (id, company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id)
    SELECT w.id, made.company_id, made.id, made.number, made.last + w.place,
      ${tokenIdSql('made.number', 'w.token_part')}, w.cipher, $5
    FROM made, unnest(${ids}, $4::bytea[], $6::bigint[]) WITH ORDINALITY AS w (id, cipher, token_part, place))`;
const seriesResult = `
  SELECT made.id, made.number, made.last + 1 AS first, statement_timestamp() AS created_at,
    coalesce(made.claim_base_url, c.claim_base_url) AS claim_base_url
  FROM made JOIN companies c ON c.id = made.company_id`;
const entry = keyEntrySql({
  from: 7,
  companyId: 'made.company_id',
  subject: 'made.id::text',
  details: `jsonb_build_object('count', ${count}, 'first', ${ids}[1], 'last', ${ids}[${count}])`,
});
const seriesSql = `WITH ${seriesParts} ${seriesResult}`;
const seriesAndEntrySql = `WITH ${seriesParts}, told AS (${entry}) ${seriesResult}`;

/**
 * Inserts NFTs with the next serials of an RWA, in the order of their ids, and counts them, by one statement. The row of
 * the RWA stays locked until its transaction ends.
 * @param told the audit entry of it, by a key; none by default
 * @returns undefined when the company has no such RWA
 */
export async function insertSeries(
  db: Database,
  { companyId, rwaId, ids, ciphers, keyId, tokenParts }: NewSeries,
  told?: KeyEntry,
): Promise<Series | undefined> {
  const values = [companyId, rwaId, ids, ciphers, keyId, tokenParts.map(String)];
  const { rows } = await (told === undefined
    ? prepared<SeriesRow>(db, 'insert_series', seriesSql, values)
    : prepared<SeriesRow>(db, 'insert_series_and_tell', seriesAndEntrySql, [
        ...values,
        ...keyEntryValues(told),
      ]));
  return rows.map(toSeries)[0];
}

const toSeries = (row: SeriesRow): Series => ({
  rwaId: row.id,
  rwaNumber: BigInt(row.number),
  first: BigInt(row.first),
  createdAt: row.created_at,
  claimBaseUrl: row.claim_base_url,
});
