import type { components as events } from '../../../../src/contract/generated/events.ts';
import type { components as rwa } from '../../../../src/contract/generated/rwa.ts';

/* Rows as they are stored, and as the documents want them: a field that a document gains does not compile without it here. */

type Event = events['schemas']['Event'];
export type Attendee = events['schemas']['Attendee'];
type Schemas = rwa['schemas'];

export type EventRow = {
  readonly id: string;
  readonly company_id: string;
  readonly name: string;
  readonly location: string | null;
  readonly description: string | null;
  readonly program: string | null;
  readonly start_date: Date | null;
  readonly end_date: Date | null;
  readonly max_attendees: number | null;
  readonly price: string | null;
  readonly currency: string | null;
  readonly discount_price: string | null;
  readonly discount_percentage: string | null;
  readonly contract_required_to_attend: string[];
  readonly contract_required_to_discount: string[];
  readonly require_all: boolean;
  readonly minimum_balance: string;
  readonly proof_required: boolean;
  readonly one_admission_per_token: boolean;
  readonly recheck_at_checkin: boolean;
  readonly tickets_only: boolean;
  readonly label_on_tickets: boolean;
  readonly cover_image: string | null;
  readonly gallery_images: string[];
  readonly chain_id: string | null;
  readonly total_attendees: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export const eventColumns = `id, company_id, name, location, description, program, start_date, end_date, max_attendees,
  price, currency, discount_price, discount_percentage, contract_required_to_attend, contract_required_to_discount,
  require_all, minimum_balance, proof_required, one_admission_per_token, recheck_at_checkin, tickets_only, label_on_tickets, cover_image,
  gallery_images, chain_id, total_attendees, created_at, updated_at`;

const numberOf = (text: string | null) => (text === null ? null : Number(text));

export const eventOf = (row: EventRow): Event => ({
  id: row.id,
  companyId: row.company_id,
  name: row.name,
  location: row.location,
  description: row.description,
  program: row.program,
  startDate: row.start_date?.toISOString() ?? null,
  endDate: row.end_date?.toISOString() ?? null,
  maxAttendees: row.max_attendees,
  price: numberOf(row.price),
  currency: row.currency,
  discountPrice: numberOf(row.discount_price),
  discountPercentage: numberOf(row.discount_percentage),
  contractRequiredToAttend: row.contract_required_to_attend,
  contractRequiredToDiscount: row.contract_required_to_discount,
  requireAll: row.require_all,
  minimumBalance: row.minimum_balance,
  proofRequired: row.proof_required,
  oneAdmissionPerToken: row.one_admission_per_token,
  recheckAtCheckin: row.recheck_at_checkin,
  ticketsOnly: row.tickets_only,
  labelOnTickets: row.label_on_tickets,
  coverImage: row.cover_image,
  galleryImages: row.gallery_images,
  chainId: numberOf(row.chain_id),
  totalAttendees: row.total_attendees,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export type RwaRow = {
  readonly rwa_id: string;
  readonly rwa_company_id: string;
  readonly rwa_name: string;
  readonly rwa_description: string | null;
  readonly rwa_type: string;
  readonly rwa_image_url: string | null;
  readonly rwa_chain_id: string;
  readonly rwa_contract_address: string;
  readonly rwa_is_buyable: boolean;
  readonly rwa_is_claimable: boolean;
  readonly rwa_claim_page: boolean;
  readonly rwa_price: string | null;
  readonly rwa_currency: string | null;
  readonly rwa_archived_at: Date | null;
  readonly rwa_created_at: Date;
  readonly rwa_updated_at: Date;
};

// The names are the same for an RWA alone and next to an NFT.
export const rwaColumns = `r.id AS rwa_id, r.company_id AS rwa_company_id, r.name AS rwa_name,
  r.description AS rwa_description, r.type AS rwa_type, r.image_url AS rwa_image_url, r.chain_id AS rwa_chain_id,
  r.contract_address AS rwa_contract_address, r.is_buyable AS rwa_is_buyable, r.is_claimable AS rwa_is_claimable,
  r.claim_page AS rwa_claim_page,
  r.price AS rwa_price, r.currency AS rwa_currency, r.archived_at AS rwa_archived_at, r.created_at AS rwa_created_at,
  r.updated_at AS rwa_updated_at`;

export const rwaOf = (row: RwaRow): Schemas['Rwa'] => ({
  id: row.rwa_id,
  companyId: row.rwa_company_id,
  name: row.rwa_name,
  description: row.rwa_description,
  type: row.rwa_type,
  imageUrl: row.rwa_image_url,
  chainId: Number(row.rwa_chain_id),
  contractAddress: row.rwa_contract_address,
  isBuyable: row.rwa_is_buyable,
  isClaimable: row.rwa_is_claimable,
  claimPage: row.rwa_claim_page,
  price: row.rwa_price,
  currency: row.rwa_currency,
  archivedAt: row.rwa_archived_at?.toISOString() ?? null,
  createdAt: row.rwa_created_at.toISOString(),
  updatedAt: row.rwa_updated_at.toISOString(),
});

export type RwaDetailRow = RwaRow & {
  readonly rwa_data: Record<string, unknown> | null;
  readonly rwa_claim_base_url: string | null;
  readonly rwa_total_nfts: string;
  readonly rwa_claimed_nfts: string;
};

export const rwaDetailColumns = `${rwaColumns}, r.data AS rwa_data,
  r.claim_base_url AS rwa_claim_base_url, r.total_nfts AS rwa_total_nfts, r.claimed_nfts AS rwa_claimed_nfts`;

export function rwaDetailOf(row: RwaDetailRow): Schemas['RwaDetail'] {
  const totalNfts = Number(row.rwa_total_nfts);
  const claimedNfts = Number(row.rwa_claimed_nfts);
  return {
    ...rwaOf(row),
    data: row.rwa_data,
    claimBaseUrl: row.rwa_claim_base_url,
    totalNfts,
    claimedNfts,
    unclaimedNfts: totalNfts - claimedNfts,
  };
}

export type NftRow = {
  readonly id: string;
  readonly rwa_id: string;
  readonly serial: string;
  readonly token_id: string;
  readonly secret_cipher: Buffer;
  readonly mint_state: Schemas['Nft']['claimStatus'];
  readonly mint_error: string | null;
  readonly recipient: string | null;
  readonly minted_at: Date | null;
  readonly minted_tx: string | null;
  readonly minted_block: string | null;
  readonly owner: string | null;
  /** The three are null together. */
  readonly owner_block: string | null;
  readonly owner_at: Date | null;
  readonly owner_tx: string | null;
  readonly data: Record<string, unknown> | null;
  readonly attributes: Schemas['PublicAttribute'][] | null;
  readonly image_url: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

// The RWA's id is among its own columns.
export const nftColumns = `n.id, n.serial, n.token_id, n.secret_cipher, n.mint_state, n.mint_error, n.recipient,
  n.minted_at, n.minted_tx, n.minted_block, n.owner, n.owner_block, n.owner_at, n.owner_tx, n.data, n.attributes,
  n.image_url, n.created_at, n.updated_at`;

function ownershipOf({ mint_state, owner, owner_block, owner_at, owner_tx }: Omit<NftRow, 'secret_cipher'>) {
  if (mint_state !== 'minted' || owner_at === null) return { owner: null, ownerSince: null, burnedAt: null };
  const time = owner_at.toISOString();
  if (owner === null) return { owner, ownerSince: null, burnedAt: time };
  return {
    owner,
    ownerSince: { block: owner_block ?? '', time, transaction: owner_tx ?? '' },
    burnedAt: null,
  };
}

const claimBase = `${process.env['CLAIM_BASE_URL']}/`;

export const nftOf = (row: Omit<NftRow, 'secret_cipher'>, secret: string): Schemas['Nft'] => ({
  id: row.id,
  rwaId: row.rwa_id,
  serial: row.serial.padStart(6, '0'),
  tokenId: row.token_id,
  secret,
  url: `${claimBase}${row.id}#${secret}`,
  claimStatus: row.mint_state,
  mintError: row.mint_error,
  mintNote: null,
  recipient: row.recipient,
  mintedAt: row.minted_at?.toISOString() ?? null,
  mintedTx: row.minted_tx,
  mintedBlock: row.minted_block,
  ...ownershipOf(row),
  data: row.data,
  attributes: row.attributes,
  imageUrl: row.image_url,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
