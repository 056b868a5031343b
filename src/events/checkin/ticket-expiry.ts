const dayMs = 86_400_000;
// The last second that RFC 3339 can write.
const latest = Date.UTC(9999, 11, 31, 23, 59, 59);

type Dates = {
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  /** When the attendee was registered. */
  readonly createdAt: Date;
};

/** When a ticket expires, in whole seconds: a day after the end of the event, or else a year after its start or the registration. */
export function expiryOf({ startDate, endDate, createdAt }: Dates): Date {
  const ms =
    endDate === null
      ? Math.max(startDate?.getTime() ?? 0, createdAt.getTime()) + 365 * dayMs
      : endDate.getTime() + dayMs;
  return new Date(Math.min(Math.floor(ms / 1_000) * 1_000, latest));
}
