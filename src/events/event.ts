/** What a company sets of an event. Instants have milliseconds; null means unset. */
export type EventFields = {
  readonly name: string;
  readonly location: string | null;
  readonly description: string | null;
  readonly program: string | null;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  /** null means unlimited, 0 means nobody. */
  readonly maxAttendees: number | null;
  /** In units of `currency`. A plain number by contract: it is shown to people, nothing is settled with it. */
  readonly price: number | null;
  readonly currency: string | null;
  readonly discountPrice: number | null;
  /** 0 to 100. */
  readonly discountPercentage: number | null;
  readonly contractRequiredToAttend: readonly string[];
  readonly contractRequiredToDiscount: readonly string[];
  readonly coverImage: string | null;
  readonly galleryImages: readonly string[];
  /** Decimal. */
  readonly chainId: string | null;
};

/** An event as it is stored. */
export type EventRecord = EventFields & {
  readonly id: string;
  readonly companyId: string;
  readonly totalAttendees: number;
  /** Goes up with each change of the fields; not with attendees, who are counted in `totalAttendees`. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** The registration of a user for an event. */
export type Attendee = { readonly attendeeId: string; readonly eventId: string; readonly createdAt: Date };
