import type { Database } from '../../../contract/transaction.ts';
import type { NftStandard } from '../domain.ts';
import { bytes, hex } from './bulk-store.ts';
import { createMetadataStore } from './metadata-store.ts';

/** What a token contract says of itself; null where it does not, or says nothing sensible. */
export type TokenText = {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
};

export type KnownContract = TokenText & { readonly contract: string; readonly standard: 20 | 721 | 1155 };

/** One token of a collection. */
type TokenKey = { readonly contract: string; readonly tokenId: bigint };

export type KnownToken = TokenKey & {
  readonly mintedBlock: bigint | null;
  readonly minter: string | null;
  readonly tokenUri: string | null;
  readonly uriReadAt: Date | null;
  readonly metadata: string | null;
  readonly metadataReadAt: Date | null;
};

type ContractRow = {
  readonly contract: Buffer;
  readonly standard: 20 | 721 | 1155;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
};

type TokenRow = {
  readonly contract: Buffer;
  readonly token_id: string;
  readonly standard: number;
  readonly minted_block: string | null;
  readonly minter: Buffer | null;
  readonly token_uri: string | null;
  readonly uri_read_at: Date | null;
  readonly metadata: string | null;
  readonly metadata_read_at: Date | null;
};

type StoreOptions = { readonly db: Database };

/** Contracts and tokens that the index has seen, and what they say of themselves. */
export function createTokenStore(options: StoreOptions) {
  return { ...createContractTexts(options), ...createTokenUris(options), ...createMetadataStore(options) };
}

export type TokenStore = ReturnType<typeof createTokenStore>;

function createContractTexts({ db }: StoreOptions) {
  return {
    async contracts(chainId: string, contracts: readonly string[]): Promise<KnownContract[]> {
      if (contracts.length === 0) return [];
      const { rows } = await db.raw<{ rows: ContractRow[] }>(
        `SELECT contract, standard, name, symbol, decimals FROM token_contracts
         WHERE chain_id = ? AND contract = ANY (string_to_array(?, ',')::bytea[])`,
        [chainId, contracts.map(bytes).join(',')],
      );
      return rows.map((row) => ({ ...row, contract: hex(row.contract) }));
    },

    /** Contracts that were never asked. */
    async unreadContracts(
      chainId: string,
      limit: number,
    ): Promise<Pick<KnownContract, 'contract' | 'standard'>[]> {
      const rows: ContractRow[] = await db('token_contracts')
        .where('chain_id', chainId)
        .whereNull('read_at')
        .limit(limit)
        .select('contract', 'standard');
      return rows.map(({ contract, standard }) => ({ contract: hex(contract), standard }));
    },

    async saveContracts(chainId: string, read: readonly (TokenText & { contract: string })[]): Promise<void> {
      await db.raw(
        `UPDATE token_contracts t SET name = r.name, symbol = r.symbol, decimals = r.decimals, read_at = now()
         FROM json_to_recordset(?) AS r (contract bytea, name text, symbol text, decimals smallint)
         WHERE t.chain_id = ? AND t.contract = r.contract`,
        [JSON.stringify(read.map((text) => ({ ...text, contract: bytes(text.contract) }))), chainId],
      );
    },
  };
}

function createTokenUris({ db }: StoreOptions) {
  return {
    async tokens(chainId: string, keys: readonly TokenKey[]): Promise<KnownToken[]> {
      if (keys.length === 0) return [];
      const { rows } = await db.raw<{ rows: TokenRow[] }>(
        `SELECT t.* FROM nft_tokens t JOIN unnest(string_to_array(?, ',')::bytea[], string_to_array(?, ',')::numeric[])
           AS k (contract, token_id) USING (contract, token_id) WHERE t.chain_id = ?`,
        [keys.map((key) => bytes(key.contract)).join(','), keys.map((key) => key.tokenId).join(','), chainId],
      );
      return rows.map(toToken);
    },

    /** Tokens whose URI was never asked for, or may be another one by now. */
    async unreadTokens(chainId: string, limit: number): Promise<(TokenKey & { standard: NftStandard })[]> {
      const rows: TokenRow[] = await db('nft_tokens')
        .where('chain_id', chainId)
        .where('uri_stale', true)
        .limit(limit)
        .select('contract', 'token_id', 'standard');
      return rows.map(({ contract, token_id, standard }) => ({
        contract: hex(contract),
        tokenId: BigInt(token_id),
        standard: standard === 721 ? 'ERC721' : 'ERC1155',
      }));
    },

    /** A contract that tells no address any more leaves the one that it told before. */
    async saveTokenUris(
      chainId: string,
      read: readonly (TokenKey & { readonly tokenUri: string | null })[],
    ): Promise<void> {
      const rows = read.map(({ contract, tokenId, tokenUri }) => ({
        contract: bytes(contract),
        token_id: String(tokenId),
        token_uri: tokenUri,
      }));
      await db.raw(
        `UPDATE nft_tokens t SET token_uri = coalesce(r.token_uri, t.token_uri), uri_read_at = now(),
           uri_stale = false, metadata_tries = 0,
           metadata_due = CASE WHEN r.token_uri IS NULL THEN t.metadata_due ELSE ?::timestamptz END
         FROM json_to_recordset(?) AS r (contract bytea, token_id numeric, token_uri text)
         WHERE t.chain_id = ? AND t.contract = r.contract AND t.token_id = r.token_id`,
        [new Date(), JSON.stringify(rows), chainId],
      );
    },
  };
}

function toToken(row: TokenRow): KnownToken {
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
