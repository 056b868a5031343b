import type { Database } from '../../../../contract/transaction.ts';
import { maxMetadataBytes } from '../../../shared/kept-metadata.ts';
import type { NftStandard } from '../../decode/domain.ts';
import { bytes, hex } from '../rows/bulk-store.ts';
import { dueAfter } from './rests.ts';

/** The NFTs that the index has seen, and where their contracts say their metadata are. */
const table = 'nft_tokens';

/** One token of a collection. */
type TokenKey = { readonly contract: string; readonly tokenId: bigint };

export type KnownToken = TokenKey & {
  readonly mintedBlock: bigint | null;
  readonly minter: string | null;
  readonly tokenUri: string | null;
  readonly uriReadAt: Date | null;
  /** JSON text. */
  readonly metadata: string | null;
  readonly metadataReadAt: Date | null;
};

type Row = {
  readonly contract: Buffer;
  readonly token_id: string; // numeric: pg reads it as text
  readonly standard: number;
  readonly minted_block: string | null; // bigint: pg reads it as text
  readonly minter: Buffer | null;
  readonly token_uri: string | null;
  readonly uri_read_at: Date | null;
  readonly metadata: string | null;
  readonly metadata_read_at: Date | null;
};

function toToken(row: Row): KnownToken {
  return {
    contract: hex(row.contract),
    tokenId: BigInt(row.token_id),
    mintedBlock: row.minted_block === null ? null : BigInt(row.minted_block),
    minter: row.minter === null ? null : hex(row.minter),
    tokenUri: row.token_uri,
    uriReadAt: row.uri_read_at,
    metadata: row.metadata,
    metadataReadAt: row.metadata_read_at,
  };
}

/** The tokens of a page, as far as they fit. */
export type PageTokens = {
  /** How many of the requested tokens fit, from the first; at least one. */
  readonly fitting: number;
  /** Returns the known tokens among these, in no particular order. */
  readonly tokens: KnownToken[];
};

// An earlier release may have kept more of the metadata. They wait to be fetched again.
const keptMetadata = `CASE WHEN octet_length(t.metadata) <= ${maxMetadataBytes} THEN t.metadata
  WHEN t.metadata IS NOT NULL THEN '{"_truncated":["*"]}' END`;
// Some URIs contain the metadata themselves.
const keptUri = `CASE WHEN octet_length(t.token_uri) <= ${maxMetadataBytes} THEN t.token_uri
  ELSE left(t.token_uri, 128) || '…' END`;

/**
 * Returns the known tokens of a page, up to as many bytes of metadata and URIs.
 * @param keys at least one, in the order of the page
 */
export async function findPageTokens(
  db: Database,
  chainId: string,
  keys: readonly TokenKey[],
  maxBytes: number,
): Promise<PageTokens> {
  const { rows } = await db.raw<{ rows: (Omit<Row, 'contract'> & { contract: Buffer | null })[] }>(
    `SELECT * FROM (
       SELECT k.place, t.contract, t.token_id, t.standard, t.minted_block, t.minter, t.uri_read_at, t.metadata_read_at,
         ${keptMetadata} AS metadata, ${keptUri} AS token_uri,
         sum(coalesce(least(octet_length(t.metadata), ${maxMetadataBytes}), 0)
           + coalesce(least(octet_length(t.token_uri), ${maxMetadataBytes}), 0)) OVER (ORDER BY k.place) AS bytes
       FROM unnest(string_to_array(?, ',')::bytea[], string_to_array(?, ',')::numeric[])
         WITH ORDINALITY AS k (contract, token_id, place)
       LEFT JOIN nft_tokens t ON t.chain_id = ? AND t.contract = k.contract AND t.token_id = k.token_id
     ) page WHERE place = 1 OR bytes <= ?`,
    [
      keys.map((key) => bytes(key.contract)).join(','),
      keys.map((key) => key.tokenId).join(','),
      chainId,
      maxBytes,
    ],
  );
  const isKnown = (row: (typeof rows)[number]): row is Row => row.contract !== null;
  return { fitting: rows.length, tokens: rows.filter(isKnown).map(toToken) };
}

const wokenAtOnce = 1_000;

export type UnreadToken = TokenKey & {
  readonly standard: NftStandard;
  /** How often nodes did not answer. */
  readonly tries: number;
};

/**
 * Returns tokens whose URI was never read, or may have changed since.
 * @param from the contract after which the list begins; it goes on with the first contracts
 */
export async function listUnreadTokens(
  db: Database,
  chainId: string,
  { limit, from }: { readonly limit: number; readonly from: string },
): Promise<UnreadToken[]> {
  const part = (comparison: '>' | '<=') => `(SELECT contract, token_id, standard, uri_tries FROM ${table}
    WHERE chain_id = :chainId AND uri_stale AND contract ${comparison} :from::bytea
    ORDER BY contract, token_id LIMIT :limit)`;
  const { rows } = await db.raw<{ rows: (Row & { readonly uri_tries: number })[] }>(
    `SELECT * FROM (${part('>')} UNION ALL ${part('<=')}) unread LIMIT :limit`,
    { chainId, limit, from: bytes(from) },
  );
  return rows.map(({ contract, token_id, standard, uri_tries: tries }) => ({
    contract: hex(contract),
    tokenId: BigInt(token_id),
    standard: standard === 721 ? 'ERC721' : 'ERC1155',
    tries,
  }));
}

/** Marks the URIs of tokens that rested after a failed try, some at once, so that they are read again. */
export async function wakeTokens(db: Database, chainId: string): Promise<void> {
  await db.raw(
    `UPDATE nft_tokens t SET uri_stale = true, uri_due = NULL
     FROM (SELECT contract, token_id FROM nft_tokens WHERE chain_id = :chainId AND uri_due <= :now
       ORDER BY uri_due LIMIT ${wokenAtOnce}) w
     WHERE t.chain_id = :chainId AND t.contract = w.contract AND t.token_id = w.token_id`,
    { chainId, now: new Date() },
  );
}

/**
 * Stores the URIs of tokens, marks them as read and has their metadata fetched. Tokens for which nodes did not answer
 * do not change, and are read again after a rest, a few times.
 * @param read where a contract no longer gives a URI (null), the stored URI stays; undefined where nodes did not
 * answer
 */
export async function saveTokenUris(
  db: Database,
  chainId: string,
  read: readonly (TokenKey & Pick<UnreadToken, 'tries'> & { readonly tokenUri: string | null | undefined })[],
): Promise<void> {
  const now = new Date();
  const rows = read.map(({ contract, tokenId, tokenUri, tries }) => {
    const due = tokenUri === undefined ? dueAfter(tries) : undefined;
    return {
      contract: bytes(contract),
      token_id: String(tokenId),
      token_uri: tokenUri ?? null,
      answered: tokenUri !== undefined,
      tries: due === undefined ? 0 : tries + 1,
      due: due ?? null,
      read_at: due === undefined ? now : null,
      metadata_due: tokenUri ? now : null,
    };
  });
  await db.raw(
    `UPDATE nft_tokens t SET token_uri = coalesce(r.token_uri, t.token_uri), uri_stale = false,
       uri_read_at = coalesce(r.read_at, t.uri_read_at), uri_tries = r.tries, uri_due = r.due,
       metadata_tries = CASE WHEN r.answered THEN 0 ELSE t.metadata_tries END,
       metadata_due = coalesce(r.metadata_due, t.metadata_due)
     FROM json_to_recordset(?) AS r (contract bytea, token_id numeric, token_uri text, answered boolean, tries smallint,
       due timestamptz, read_at timestamptz, metadata_due timestamptz)
     WHERE t.chain_id = ? AND t.contract = r.contract AND t.token_id = r.token_id`,
    [JSON.stringify(rows), chainId],
  );
}
