/* Rows as they are stored, and as the documents want them. */

export type EventRow = Readonly<Record<string, unknown>> & {
  readonly start_date: Date | null;
  readonly end_date: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

const numberOf = (text: unknown) => (text === null ? null : Number(text));

export const eventOf = (row: EventRow) => ({
  ...{ id: row['id'], companyId: row['company_id'], name: row['name'], location: row['location'] },
  ...{ description: row['description'], program: row['program'] },
  startDate: row.start_date?.toISOString() ?? null,
  endDate: row.end_date?.toISOString() ?? null,
  ...{ maxAttendees: row['max_attendees'], price: numberOf(row['price']), currency: row['currency'] },
  discountPrice: numberOf(row['discount_price']),
  discountPercentage: numberOf(row['discount_percentage']),
  contractRequiredToAttend: row['contract_required_to_attend'],
  contractRequiredToDiscount: row['contract_required_to_discount'],
  ...{
    coverImage: row['cover_image'],
    galleryImages: row['gallery_images'],
    chainId: numberOf(row['chain_id']),
  },
  totalAttendees: row['total_attendees'],
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export type RwaRow = Readonly<Record<string, unknown>> & {
  readonly archived_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export const rwaOf = (row: RwaRow) => ({
  ...{ id: row['id'], companyId: row['company_id'], name: row['name'], description: row['description'] },
  ...{ type: row['type'], imageUrl: row['image_url'], chainId: Number(row['chain_id']) },
  ...{
    contractAddress: row['contract_address'],
    isBuyable: row['is_buyable'],
    isClaimable: row['is_claimable'],
  },
  ...{ price: row['price'], currency: row['currency'] },
  archivedAt: row.archived_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export function rwaDetailOf(row: RwaRow) {
  const [totalNfts, claimedNfts] = [Number(row['total_nfts']), Number(row['claimed_nfts'])];
  return { ...rwaOf(row), data: row['data'], totalNfts, claimedNfts, unclaimedNfts: totalNfts - claimedNfts };
}

export type NftRow = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly serial: string;
  readonly secret_cipher: Buffer;
  readonly minted_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export const nftOf = (row: NftRow, secret: string) => ({
  ...{
    id: row.id,
    rwaId: row['rwa_id'],
    serial: row.serial.padStart(6, '0'),
    tokenId: row['token_id'],
    secret,
  },
  url: `https://claim.example/${row.id}#${secret}`,
  ...{
    claimStatus: row['mint_state'],
    mintError: row['mint_error'],
    mintNote: null,
    recipient: row['recipient'],
  },
  mintedAt: row.minted_at?.toISOString() ?? null,
  ...{ mintedTx: row['minted_tx'], mintedBlock: row['minted_block'], data: row['data'] },
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
