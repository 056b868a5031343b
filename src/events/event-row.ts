import type { EventFields, EventRecord } from './event.ts';

type FieldColumns = {
  name: string;
  location: string | null;
  description: string | null;
  program: string | null;
  start_date: Date | null;
  end_date: Date | null;
  max_attendees: number | null;
  price: string | null;
  currency: string | null;
  discount_price: string | null;
  discount_percentage: string | null;
  contract_required_to_attend: readonly string[];
  contract_required_to_discount: readonly string[];
  require_all: boolean;
  minimum_balance: string;
  proof_required: boolean;
  one_admission_per_token: boolean;
  recheck_at_checkin: boolean;
  tickets_only: boolean;
  label_on_tickets: boolean;
  cover_image: string | null;
  gallery_images: readonly string[];
  chain_id: string | null;
};

export const fieldColumns = [
  ...([
    'name',
    'location',
    'description',
    'program',
    'start_date',
    'end_date',
    'max_attendees',
    'price',
  ] as const),
  ...(['currency', 'discount_price', 'discount_percentage', 'contract_required_to_attend'] as const),
  ...(['contract_required_to_discount', 'cover_image', 'gallery_images', 'chain_id'] as const),
  ...(['require_all', 'minimum_balance', 'proof_required', 'one_admission_per_token'] as const),
  ...(['recheck_at_checkin', 'tickets_only', 'label_on_tickets'] as const),
];
export const eventColumns = [
  'id',
  'company_id',
  ...fieldColumns,
  'total_attendees',
  'version',
  'ids_in_items',
  'created_at',
  'updated_at',
].join();

export type EventRow = FieldColumns & {
  id: string;
  company_id: string;
  total_attendees: number;
  version: number;
  ids_in_items: boolean;
  created_at: Date;
  updated_at: Date;
};

/** The columns of the fields that callers set. */
export function toColumns(fields: EventFields) {
  return {
    name: fields.name,
    location: fields.location,
    description: fields.description,
    program: fields.program,
    // As text in UTC: the driver would write a Date in the zone of the process.
    start_date: fields.startDate?.toISOString() ?? null,
    end_date: fields.endDate?.toISOString() ?? null,
    max_attendees: fields.maxAttendees,
    price: fields.price,
    currency: fields.currency,
    discount_price: fields.discountPrice,
    discount_percentage: fields.discountPercentage,
    contract_required_to_attend: fields.contractRequiredToAttend,
    contract_required_to_discount: fields.contractRequiredToDiscount,
    require_all: fields.requireAll,
    minimum_balance: fields.minimumBalance,
    proof_required: fields.proofRequired,
    one_admission_per_token: fields.oneAdmissionPerToken,
    recheck_at_checkin: fields.recheckAtCheckin,
    tickets_only: fields.ticketsOnly,
    label_on_tickets: fields.labelOnTickets,
    cover_image: fields.coverImage,
    gallery_images: fields.galleryImages,
    chain_id: fields.chainId,
  };
}

export function fromRow(row: EventRow): EventRecord {
  return {
    id: row.id,
    companyId: row.company_id,
    name: row.name,
    location: row.location,
    description: row.description,
    program: row.program,
    startDate: row.start_date,
    endDate: row.end_date,
    maxAttendees: row.max_attendees,
    price: toNumber(row.price),
    currency: row.currency,
    discountPrice: toNumber(row.discount_price),
    discountPercentage: toNumber(row.discount_percentage),
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
    chainId: row.chain_id,
    totalAttendees: row.total_attendees,
    version: row.version,
    idsInItems: row.ids_in_items,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

// Exact: each was written as the shortest decimal text of a JSON number, which reads back as that number.
function toNumber(text: string | null): number | null {
  return text === null ? null : Number(text);
}
