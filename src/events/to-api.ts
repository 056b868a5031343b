import type { components } from '../contract/generated/events.ts';
import { blockToApi, tokenToApi } from './eligibility/to-api.ts';
import type { Attendee, EventRecord } from './event.ts';

type Schemas = components['schemas'];

/** Converts an event to the contract's form. */
export function eventToApi(event: EventRecord): Schemas['Event'] {
  return {
    id: event.id,
    companyId: event.companyId,
    name: event.name,
    location: event.location,
    description: event.description,
    program: event.program,
    startDate: event.startDate?.toISOString() ?? null,
    endDate: event.endDate?.toISOString() ?? null,
    maxAttendees: event.maxAttendees,
    price: event.price,
    currency: event.currency,
    discountPrice: event.discountPrice,
    discountPercentage: event.discountPercentage,
    contractRequiredToAttend: [...event.contractRequiredToAttend],
    contractRequiredToDiscount: [...event.contractRequiredToDiscount],
    requireAll: event.requireAll,
    minimumBalance: event.minimumBalance,
    proofRequired: event.proofRequired,
    oneAdmissionPerToken: event.oneAdmissionPerToken,
    recheckAtCheckin: event.recheckAtCheckin,
    ticketsOnly: event.ticketsOnly,
    labelOnTickets: event.labelOnTickets,
    coverImage: event.coverImage,
    galleryImages: [...event.galleryImages],
    // The contract and the registry keep chain ids within the exact integers of a JSON number.
    chainId: event.chainId === null ? null : Number(event.chainId),
    totalAttendees: event.totalAttendees,
    createdAt: event.createdAt.toISOString(),
    updatedAt: event.updatedAt.toISOString(),
  };
}

/** Converts the registration of a user to the contract's form. */
export function attendeeToApi(attendee: Attendee): Schemas['Attendee'] {
  const { attendeeId, eventId, label, createdAt, checkedInAt, isInside, admission } = attendee;
  const price = admission?.price ?? null;
  return {
    attendeeId,
    eventId,
    label,
    createdAt: createdAt.toISOString(),
    checkedInAt: checkedInAt?.toISOString() ?? null,
    inside: isInside,
    wallet: admission?.wallet ?? null,
    appliedPrice: price === null ? null : Number(price),
    blocks: (admission?.blocks ?? []).map(blockToApi),
    tokens: (admission?.tokens ?? []).map(tokenToApi),
  };
}
