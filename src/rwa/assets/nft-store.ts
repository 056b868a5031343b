import type { Knex } from 'knex';
import type { Tx } from '../../contract/transaction.ts';
import type { SealedSecret } from './claim-secret.ts';
import type { Page } from './rwa-store.ts';

/** Where an NFT stands on its way to the chain. */
export type MintState = 'unclaimed' | 'queued' | 'submitted' | 'minted' | 'failed';

/** One NFT of an RWA. */
export type Nft = {
  readonly id: string;
  readonly companyId: string;
  readonly rwaId: string;
  readonly rwaNumber: bigint;
  /** 1, 2, 3 … within its RWA. */
  readonly serial: bigint;
  /** Decimal. */
  readonly tokenId: string;
  readonly sealed: SealedSecret;
  readonly mintState: MintState;
  /** Why minting failed, in words. */
  readonly mintError: string | null;
  /** EIP-55. */
  readonly recipient: string | null;
  readonly mintedAt: Date | null;
  readonly mintedTx: string | null;
  /** Decimal. */
  readonly mintedBlock: string | null;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type NewNft = Pick<Nft, 'id' | 'companyId' | 'rwaId' | 'rwaNumber' | 'serial' | 'tokenId' | 'sealed'>;

export type NftFilter = {
  /** Only those of one RWA. */
  readonly rwaNumber?: bigint | undefined;
  /** True: only minted ones; false: all others. */
  readonly claimed?: boolean | undefined;
  readonly mintState?: MintState | undefined;
  /** Changed at this time or later. */
  readonly updatedSince?: Date | undefined;
};

export type NftStore = {
  /** Ordered by RWA, then serial. */
  list(companyId: string, filter: NftFilter, page: Page): Promise<Nft[]>;
  count(companyId: string, filter: NftFilter): Promise<number>;
  find(companyId: string, id: string): Promise<Nft | undefined>;
  /** Whether a company other than this one has the NFT. */
  isForeign(companyId: string, id: string): Promise<boolean>;
  /** All in one statement. */
  insert(tx: Tx, nfts: readonly NewNft[]): Promise<Nft[]>;
  sealedSecrets(tx: Tx, companyId: string, ids: readonly string[]): Promise<Map<string, SealedSecret>>;
};

const columns = [
  'id',
  'company_id',
  'rwa_id',
  'rwa_number',
  'serial',
  'token_id',
  'secret_cipher',
  'secret_key_id',
  'mint_state',
  'mint_error',
  'recipient',
  'minted_at',
  'minted_tx',
  'minted_block',
  'data',
  'created_at',
  'updated_at',
];

type NftRow = {
  id: string;
  company_id: string;
  rwa_id: string;
  rwa_number: string;
  serial: string;
  token_id: string;
  secret_cipher: Buffer;
  secret_key_id: string;
  mint_state: MintState;
  mint_error: string | null;
  recipient: string | null;
  minted_at: Date | null;
  minted_tx: string | null;
  minted_block: string | null;
  data: Record<string, unknown> | null;
  created_at: Date;
  updated_at: Date;
};

/** NFTs as their companies see them: every query names the company. */
export function createNftStore({ db }: { readonly db: Knex }): NftStore {
  const matching = (companyId: string, filter: NftFilter) => {
    const query = db('nfts').where('company_id', companyId);
    if (filter.rwaNumber !== undefined) query.where('rwa_number', filter.rwaNumber.toString());
    if (filter.claimed === true) query.where('mint_state', 'minted');
    // Written out, not bound: the partial index is only taken when the planner sees its condition.
    if (filter.claimed === false) query.whereRaw("mint_state <> 'minted'");
    if (filter.mintState !== undefined) query.where('mint_state', filter.mintState);
    if (filter.updatedSince !== undefined) query.where('updated_at', '>=', filter.updatedSince);
    return query;
  };

  return {
    async list(companyId, filter, { limit, offset }) {
      const query = matching(companyId, filter).select(columns).orderBy(['rwa_number', 'serial']);
      const rows: NftRow[] = await query.limit(limit).offset(offset);
      return rows.map(toNft);
    },
    async count(companyId, filter) {
      const rows: { count: string }[] = await matching(companyId, filter).count();
      return Number(rows[0]?.count ?? 0);
    },
    async find(companyId, id) {
      const rows: NftRow[] = await db('nfts').select(columns).where({ company_id: companyId, id });
      return rows.map(toNft)[0];
    },
    async isForeign(companyId, id) {
      const rows: unknown[] = await db('nfts').select('id').where({ id }).whereNot('company_id', companyId);
      return rows.length > 0;
    },
    insert,
    sealedSecrets,
  };
}

async function insert(tx: Tx, nfts: readonly NewNft[]): Promise<Nft[]> {
  // Arrays keep the number of parameters, and so the statement, the same for every number of rows.
  const { rows }: { rows: NftRow[] } = await tx.raw(
    `INSERT INTO nfts (id, company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id)
     SELECT * FROM unnest(?::uuid[], ?::text[], ?::uuid[], ?::bigint[], ?::bigint[], ?::numeric[], ?::bytea[],
       ?::text[])
     RETURNING ${columns.join(', ')}`,
    [
      nfts.map(({ id }) => id),
      nfts.map(({ companyId }) => companyId),
      nfts.map(({ rwaId }) => rwaId),
      nfts.map(({ rwaNumber }) => rwaNumber.toString()),
      nfts.map(({ serial }) => serial.toString()),
      nfts.map(({ tokenId }) => tokenId),
      nfts.map(({ sealed }) => sealed.cipher),
      nfts.map(({ sealed }) => sealed.keyId),
    ],
  );
  return rows.map(toNft);
}

async function sealedSecrets(tx: Tx, companyId: string, ids: readonly string[]) {
  const rows: Pick<NftRow, 'id' | 'secret_cipher' | 'secret_key_id'>[] = await tx('nfts')
    .select('id', 'secret_cipher', 'secret_key_id')
    .where('company_id', companyId)
    .whereRaw('id = ANY (?::uuid[])', [[...ids]]);
  return new Map(rows.map((row) => [row.id, sealedOf(row)]));
}

const sealedOf = (row: Pick<NftRow, 'secret_cipher' | 'secret_key_id'>): SealedSecret => ({
  cipher: row.secret_cipher,
  keyId: row.secret_key_id,
});

function toNft(row: NftRow): Nft {
  return {
    id: row.id,
    companyId: row.company_id,
    rwaId: row.rwa_id,
    rwaNumber: BigInt(row.rwa_number),
    serial: BigInt(row.serial),
    tokenId: row.token_id,
    sealed: sealedOf(row),
    mintState: row.mint_state,
    mintError: row.mint_error,
    recipient: row.recipient,
    mintedAt: row.minted_at,
    mintedTx: row.minted_tx,
    mintedBlock: row.minted_block,
    data: row.data,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
