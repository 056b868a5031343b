import type { AgreedBlock } from '../chain/holdings/agreed-block.ts';
import type { Token } from './eligibility/token.ts';

/** The fields of an event that its company sets. Dates are exact to the millisecond; null means unset. */
export type EventFields = {
  readonly name: string;
  readonly location: string | null;
  readonly description: string | null;
  readonly program: string | null;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  /** null means unlimited, 0 means nobody. */
  readonly maxAttendees: number | null;
  /** In units of `currency`. A plain number by contract: it is only displayed, no payment depends on it. */
  readonly price: number | null;
  readonly currency: string | null;
  readonly discountPrice: number | null;
  /** 0 to 100. */
  readonly discountPercentage: number | null;
  readonly contractRequiredToAttend: readonly string[];
  readonly contractRequiredToDiscount: readonly string[];
  readonly requireAll: boolean;
  /** In decimal digits, at least 1. */
  readonly minimumBalance: string;
  readonly proofRequired: boolean;
  readonly oneAdmissionPerToken: boolean;
  readonly recheckAtCheckin: boolean;
  readonly ticketsOnly: boolean;
  readonly labelOnTickets: boolean;
  readonly coverImage: string | null;
  readonly galleryImages: readonly string[];
  /** In decimal digits. */
  readonly chainId: string | null;
};

/** An event as it is stored. */
export type EventRecord = EventFields & {
  readonly id: string;
  readonly companyId: string;
  readonly totalAttendees: number;
  /** Incremented by each change of the fields, but not by changes of `totalAttendees`. */
  readonly version: number;
  /** Whether `items` of a check-in may be user IDs, as they may of events from before release 0.3.0. */
  readonly idsInItems: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Which events to list: those whose start lies between both ends, which are included. */
export type EventFilter = {
  readonly startsFrom?: Date | undefined;
  readonly startsTo?: Date | undefined;
};

/** The place of an event in the list: by creation, then id. */
export type EventPlace = { readonly createdMicros: bigint; readonly id: string };

/** The registration of a user for an event. */
export type Attendee = {
  readonly attendeeId: string;
  readonly eventId: string;
  /** For the person at the door. */
  readonly label: string | null;
  readonly createdAt: Date;
  /** The time of the earliest valid entry at the door. */
  readonly checkedInAt: Date | null;
  /** null while there is no valid entry. */
  readonly isInside: boolean | null;
  /** Undefined for an attendee without a wallet. */
  readonly admission: Admission | undefined;
};

/** With what a wallet was admitted. */
export type Admission = {
  /** EIP-55. */
  readonly wallet: string;
  /** Exact decimal; null when the event has no price. */
  readonly price: string | null;
  /** At which the chains were read. */
  readonly blocks: readonly AgreedBlock[];
  /** That the admission has consumed. */
  readonly tokens: readonly Token[];
};
