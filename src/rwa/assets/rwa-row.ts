/** A real-world asset. */
export type Rwa = {
  readonly id: string;
  /** Upper bits of its token ids. */
  readonly number: bigint;
  readonly companyId: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  readonly imageUrl: string | null;
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly contractAddress: string;
  readonly isBuyable: boolean;
  readonly isClaimable: boolean;
  /** Exact decimal. */
  readonly price: string | null;
  readonly currency: string | null;
  /** Whether the holders of its secrets may claim without its company. */
  readonly claimPage: boolean;
  /** The RWA's own claim page, else its company's, else null. */
  readonly claimBaseUrl: string | null;
  /** Since when it is in no list unless asked for, and cannot be minted; null while it is not archived. */
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type RwaDetail = Rwa & {
  /** The RWA's own claim page; null where its company's is used. */
  readonly ownClaimBaseUrl: string | null;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly totalNfts: bigint;
  readonly claimedNfts: bigint;
};

/** Of `rwas as r`. `claim_base` is selected with them: the claim page of the RWA, else of its company. */
export const rwaColumns = [
  'r.id',
  'r.number',
  'r.company_id',
  'r.name',
  'r.description',
  'r.type',
  'r.image_url',
  'r.chain_id',
  'r.contract_address',
  'r.is_buyable',
  'r.is_claimable',
  'r.price',
  'r.currency',
  'r.claim_page',
  'r.archived_at',
  'r.created_at',
  'r.updated_at',
];
export const detailColumns = [...rwaColumns, 'r.claim_base_url', 'r.data', 'r.total_nfts', 'r.claimed_nfts'];

export type RwaRow = {
  id: string;
  number: string;
  company_id: string;
  name: string;
  description: string | null;
  type: string;
  image_url: string | null;
  chain_id: string;
  contract_address: string;
  is_buyable: boolean;
  is_claimable: boolean;
  price: string | null;
  currency: string | null;
  claim_page: boolean;
  claim_base: string | null;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
};
export type RwaDetailRow = RwaRow & {
  claim_base_url: string | null;
  data: Record<string, unknown> | null;
  total_nfts: string;
  claimed_nfts: string;
};

export function toRwa(row: RwaRow): Rwa {
  return {
    id: row.id,
    number: BigInt(row.number),
    companyId: row.company_id,
    name: row.name,
    description: row.description,
    type: row.type,
    imageUrl: row.image_url,
    chainId: row.chain_id,
    contractAddress: row.contract_address,
    isBuyable: row.is_buyable,
    isClaimable: row.is_claimable,
    price: row.price,
    currency: row.currency,
    claimPage: row.claim_page,
    claimBaseUrl: row.claim_base,
    archivedAt: row.archived_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function toRwaDetail(row: RwaDetailRow): RwaDetail {
  return {
    ...toRwa(row),
    ownClaimBaseUrl: row.claim_base_url,
    data: row.data,
    totalNfts: BigInt(row.total_nfts),
    claimedNfts: BigInt(row.claimed_nfts),
  };
}
