import type { SealedSecret } from './claim-secret.ts';

/** Where an NFT stands on its way to the chain. */
export type MintState = 'unclaimed' | 'queued' | 'submitted' | 'minted' | 'failed';

/** A public property of an NFT, in the form of ERC-721 metadata. */
export type PublicAttribute = { readonly trait_type: string; readonly value: string };

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
  /** Why an accepted mint does not move: a code; null while it does. */
  readonly mintReason: string | null;
  /** EIP-55. */
  readonly recipient: string | null;
  readonly mintedAt: Date | null;
  readonly mintedTx: string | null;
  /** Decimal. */
  readonly mintedBlock: string | null;
  /** EIP-55, as the newest transfer says; null without a transfer, and after a burn. */
  readonly owner: string | null;
  /** The newest transfer; null without one. */
  readonly lastTransfer: { readonly block: string; readonly time: Date; readonly transaction: string } | null;
  readonly data: Readonly<Record<string, unknown>> | null;
  /** Public properties of its own; null when there are none. */
  readonly attributes: readonly PublicAttribute[] | null;
  /** Public; null where the image of its RWA is shown. */
  readonly imageUrl: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Of `nfts`. */
export const nftColumns = [
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
  'owner',
  'owner_block',
  'owner_at',
  'owner_tx',
  'data',
  'attributes',
  'image_url',
  'created_at',
  'updated_at',
];

export type NftRow = {
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
  /** Absent of an NFT that was just created. */
  mint_reason?: string | null;
  recipient: string | null;
  minted_at: Date | null;
  minted_tx: string | null;
  minted_block: string | null;
  owner: string | null;
  owner_block: string | null;
  owner_at: Date | null;
  owner_tx: string | null;
  data: Record<string, unknown> | null;
  attributes: PublicAttribute[] | null;
  image_url: string | null;
  created_at: Date;
  updated_at: Date;
};

export const sealedOf = (row: Pick<NftRow, 'secret_cipher' | 'secret_key_id'>): SealedSecret => ({
  cipher: row.secret_cipher,
  keyId: row.secret_key_id,
});

function lastTransferOf({ owner_block: block, owner_at: time, owner_tx: transaction }: NftRow) {
  return block === null || time === null || transaction === null ? null : { block, time, transaction };
}

export function toNft(row: NftRow): Nft {
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
    mintReason: row.mint_reason ?? null,
    recipient: row.recipient,
    mintedAt: row.minted_at,
    mintedTx: row.minted_tx,
    mintedBlock: row.minted_block,
    owner: row.owner,
    lastTransfer: lastTransferOf(row),
    data: row.data,
    attributes: row.attributes,
    imageUrl: row.image_url,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
